/*
 * libaticaldd.so: the third library of the original drivers, which held the part below the two that programs call. Start-up
 * scripts look for it, and some programs load it first; nobody calls into it. So it exports nothing.
 */
__attribute__((used)) static const char mark[] = "reCAL: libaticaldd.so";
