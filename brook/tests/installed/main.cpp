// A program in two files, as the samples of 2008 were: kernels.br, and this one, which includes what brcc makes of it.
#include <cstdio>
#include <vector>

#include "brook/Stream.h"
#include "kernels.h"

int main()
{
    unsigned int size[] = {100, 20};
    const int count = 100 * 20;
    std::vector<float> x(count), y(count), result(count);
    for (int i = 0; i < count; ++i) {
        x[i] = static_cast<float>(i % 97);
        y[i] = static_cast<float>(i % 13);
    }

    ::brook::Stream<float> xs(2, size), ys(2, size), results(2, size);
    xs.read(&x[0]);
    ys.read(&y[0]);
    saxpy(2.0f, xs, ys, results);
    float most = 0.0f;
    largest(results, most);
    results.write(&result[0]);
    if (results.error() != BR_NO_ERROR) {
        std::printf("%s\n", results.errorLog());
        return 1;
    }

    float expected = 0.0f;
    for (int i = 0; i < count; ++i) {
        const float value = 2.0f * (i % 97) + i % 13;
        if (result[i] != value) {
            std::printf("element %d is %f, not %f\n", i, result[i], value);
            return 1;
        }
        expected = value > expected ? value : expected;
    }
    if (most != expected) {
        std::printf("the largest is %f, not %f\n", most, expected);
        return 1;
    }
    std::printf("Passed!\n");
    return 0;
}
