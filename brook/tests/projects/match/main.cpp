// The host of match.br, on the C++ interface. -lbrook
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
#include "match.h"

using namespace brook;

static int expect(const char *what, long got, long want)
{
    if (got != want)
        printf("%s: %ld instead of %ld\n", what, got, want);
    return got != want;
}

int main()
{
    const char *pieces[] = {"the quick brown fox ", "jumps over The lazy dog; ", "lorem ipsum ", "theatre, there, THESE. "};
    std::string text;
    for (unsigned i = 0; text.size() < 20000; ++i)
        text += pieces[(i * i + i / 3) % 4];
    const std::string word = "the";
    unsigned int total = (unsigned int)text.size(), length = (unsigned int)word.size();
    int bad = 0;

    Stream<uchar> s(1, &total), w(1, &length), upper(1, &total);
    Stream<int> where(1, &total);
    s.read(text.data());
    w.read(word.data());

    for (int fold = 0; fold < 2; ++fold) {
        long want = 0;
        int got = -1;
        for (size_t i = 0; i + length <= total; ++i) {
            size_t k = 0;
            while (k < length && (text[i + k] | (fold ? 32 : 0)) == (word[k] | (fold ? 32 : 0)))
                ++k;
            want += k == length;
        }
        find(s, w, (int)length, (int)total, fold, where);
        count(where, got);
        bad += expect(fold ? "found, any case" : "found", got, want);
    }

    shout(s, upper);
    std::vector<char> loud(total);
    upper.write(&loud[0], "async");
    while (!upper.isSync()) {
    }
    upper.finish();
    long differ = 0;
    for (size_t i = 0; i < total; ++i)
        differ += loud[i] != (text[i] >= 'a' && text[i] <= 'z' ? text[i] - 32 : text[i]);
    bad += expect("shouted", differ, 0);

    unsigned int bins_there[] = {256};
    Stream<int> bin(1, bins_there);
    int table[256];
    bins(s, 3000, bin);
    bin.write(table);
    for (int c = 0; c < 256; ++c) {
        long n = 0;
        for (int i = 0; i < 3000; ++i)
            n += (unsigned char)text[i] == c;
        bad += expect("bin", table[c], n);
    }

    unsigned int some = 500;
    std::vector<int> places(some);
    std::vector<uint> cells(some), start(some, 7u);
    for (unsigned i = 0; i < some; ++i)
        places[i] = (int)(i * 499 % some);
    Stream<int> place(1, &some);
    Stream<uint> cell(1, &some);
    unsigned int from[1] = {100}, to[1] = {600};
    Stream<uchar> part = s.domain(from, to);
    place.read(&places[0]);
    cell.read(&start[0]);
    spread(place, part, cell);
    cell.write(&cells[0]);
    for (unsigned i = 0; i < some; ++i)
        bad += expect("cell", cells[places[i]], (unsigned char)text[100 + i]);
    if (cell.error() != BR_NO_ERROR)
        printf("%s\n", cell.errorLog());
    printf("%u letters, %d wrong\n", total, bad);
    return bad != 0;
}
