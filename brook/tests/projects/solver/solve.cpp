/* Conjugate gradients, by vec.br and matrix.br. */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include "vec.h"
#include "matrix.h"

#define N 192

static float one(int i) { return 1.0f + 0.25f * (float)(i % 5); }
static float minus(int) { return -1.0f; }
static float four(int i) { return 4.0f + (float)(i % 2); }

int main(int, char **)
{
    float *b = vnew(N, one), *side = vnew(N, minus), *mid = vnew(N, four), *x = (float *)calloc(N, sizeof(float));
    unsigned int dim[] = {N}, quad[] = {N / 4 * 4};
    brook::Stream<float> low(1, dim), high(1, dim), diagonal(1, dim), xs(1, dim), r(1, dim), p(1, dim), q(1, dim), t(1, dim);
    float rr, last = 0;
    int steps = 0, wrong = 0;

    low.read(side);
    high.read(side);
    diagonal.read(mid);
    xs.read(x);
    r.read(b);
    p.read(b);
    rr = vdot(r, r, N);
    while (rr > 1e-8f && steps < N) {
        band(low, diagonal, high, p, N, q);
        float alpha = rr / vdot(p, q, N);
        axpy(alpha, p, xs, t);
        xs.assign(t);
        axpy(-alpha, q, r, t);
        r.assign(t);
        last = rr;
        rr = vdot(r, r, N);
        axpy(rr / last, p, r, t);
        p.assign(t);
        ++steps;
    }
    xs.write(x);
    for (int i = 0; i < N; ++i) {
        double y = mid[i] * x[i] - (i > 0 ? x[i - 1] : 0) - (i < N - 1 ? x[i + 1] : 0);
        wrong += fabs(y - b[i]) > 1e-3;
    }
    brook::Stream<float4> f(1, quad), g(1, quad);
    float4 in[N], out[N];
    for (int i = 0; i < N; ++i)
        in[i] = float4((float)i, (float)(i * i % 17), 1.0f, -(float)i);
    f.read(in);
    smooth4(f, g);
    g.write(out);
    for (int i = 0; i < N; ++i) {
        int base = i / 64 * 64, l = base + (i + 63) % 64, h = base + (i + 1) % 64;
        wrong += out[i].y != (in[l].y + 2 * in[i].y + in[h].y) * 0.25f || out[i].w != (in[l].w + 2 * in[i].w + in[h].w) * 0.25f;
    }
    printf("%s, norm %d, %d products, %d wrong\n", rr <= 1e-8f ? "solved" : "not solved", (int)vnorm(b, N), vuses() - 2 * steps, wrong);
    free(b), free(side), free(mid), free(x);
    return wrong;
}
