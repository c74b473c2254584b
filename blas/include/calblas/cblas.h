/* For programs that include <cblas.h>. */
#include "../calblas.h"
