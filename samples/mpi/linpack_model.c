/*
 * linpack_model - how long High Performance Linpack will take, and what takes the time: for choosing N, NB, and the grid before a
 * cluster is spent on it. No MPI is needed. docs/linpack.md says what each term is, and how well it does.
 *
 * The matrix has N x N numbers of 8 bytes on a grid of P x Q processes; a step eliminates NB columns. What is left then has `rest`
 * columns, and a process `high` = rest / P rows and `wide` = rest / Q columns of it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is asked, and what the machine does: all but the first five of one process. */
typedef struct {
    double n, nb, p, q, depth;
    double gemm;      /* product of the device, GFLOPS */
    double transfer;  /* between host and device in one direction, GB/s; 0: no transfer */
    double panel;     /* panel's elimination on the host, GFLOPS */
    double memory;    /* copies in the host's memory, GB/s */
    double network;   /* one message, GB/s */
    double latency;   /* of one message, microseconds */
} Machine;

/* Seconds by what takes them. */
typedef struct {
    double update, panel, broadcast, swap, solve, whole;
} Times;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* A message of so many numbers. */
static double message(const Machine* m, double numbers)
{
    return m->latency * 1e-6 + numbers * 8e-9 / m->network;
}

static Times model(const Machine* m)
{
    Times  t = {0, 0, 0, 0, 0, 0};
    double levels = ceil(log2(m->p));
    for (double done = 0; done < m->n; done += m->nb) {
        double nb = m->n - done < m->nb ? m->n - done : m->nb;
        double rows = (m->n - done) / m->p, rest = m->n - done - nb, high = rest / m->p, wide = rest / m->q;
        /* Columns one after the other, for each of which the P processes find the largest element and pass its row around. */
        double panel = rows * nb * nb / (m->panel * 1e9) + nb * levels * 2 * message(m, 2 * nb + 4);
        /* In a ring the next process has it first, and sends it on. */
        double broadcast = m->q > 1 ? message(m, rows * nb + nb * nb) : 0;
        /* Rows change places between all P processes, and each needs the whole of U. */
        double spread = m->p > 1 ? (levels + m->p - 1) * m->latency * 1e-6 + 3 * nb * wide * 8e-9 / m->network : 0;
        double swap = spread + 4 * nb * wide * 8e-9 / m->memory;
        /* A triangle of NB and U, then the product: its result comes back while the next block is computed, and is added on the host. */
        double compute = (nb * nb * wide + 2 * high * wide * nb) / (m->gemm * 1e9);
        double bytes = 8e-9 * larger(high * wide, high * nb + nb * wide);
        double moved = m->transfer > 0 ? larger(bytes / m->transfer, 3 * 8e-9 * high * wide / m->memory) : 0;
        double update = larger(compute, moved);
        double step;
        if (m->depth > 0) {
            /* A column of the grid makes the next panel while others multiply; each has its turn once in Q steps. */
            step = larger(swap + update + panel / m->q, panel + broadcast);
        } else {
            step = panel + broadcast + swap + update;
        }
        t.update += update;
        t.swap += swap;
        t.panel += m->depth > 0 ? panel / m->q : panel;
        t.broadcast += m->depth > 0 ? larger(0, step - swap - update - panel / m->q) : broadcast;
        t.whole += step;
    }
    /* Back substitution: a block after the other goes through the grid. */
    t.solve = m->n * m->n / (m->p * m->q) * 8e-9 / m->memory + m->n / m->nb * (2 * message(m, m->nb) + message(m, m->nb));
    t.whole += t.solve;
    return t;
}

int main(int argc, char** argv)
{
    Machine m = {100000, 512, 4, 4, 1, 1000, 20, 20, 20, 10, 2};
    struct {
        const char* name;
        double*     value;
        const char* what;
    } options[] = {
        {"-N", &m.n, "order of the matrix"},
        {"-b", &m.nb, "columns of a panel, NB"},
        {"-P", &m.p, "rows of the grid of processes"},
        {"-Q", &m.q, "columns of the grid"},
        {"-d", &m.depth, "panels ahead, 0 or 1"},
        {"-g", &m.gemm, "GFLOPS of a product on the device"},
        {"-t", &m.transfer, "GB/s between host and device, 0 where they share memory"},
        {"-f", &m.panel, "GFLOPS of the host on a panel"},
        {"-m", &m.memory, "GB/s of copies in the host's memory"},
        {"-w", &m.network, "GB/s of the network"},
        {"-l", &m.latency, "microseconds that a message takes at least"},
    };
    size_t count = sizeof options / sizeof *options;
    for (int i = 1; i < argc; i += 2) {
        size_t at = 0;
        char*  end = NULL;
        while (at < count && strcmp(argv[i], options[at].name) != 0) {
            ++at;
        }
        double value = at < count && i + 1 < argc ? strtod(argv[i + 1], &end) : -1.0;
        int    none = at < count && (options[at].value == &m.depth || options[at].value == &m.transfer || options[at].value == &m.latency);
        if (!end || *end || end == argv[i + 1] || !(value > 0 || (none && value == 0)) || value > 1e12) {
            for (at = 0; at < count; ++at) {
                fprintf(stderr, "  %s  %s (%g)\n", options[at].name, options[at].what, *options[at].value);
            }
            return 2;
        }
        *options[at].value = value;
    }
    Times  t = model(&m);
    double operations = (2.0 / 3.0 * m.n + 1.5) * m.n * m.n, speed = operations / t.whole * 1e-9;
    printf("N %.0f, NB %.0f, %.0f x %.0f processes of %.2f GB: %.2f s, %.1f GFLOPS, %.1f %% of their products'\n", m.n, m.nb, m.p, m.q,
           m.n * m.n * 8e-9 / (m.p * m.q), t.whole, speed, 100 * speed / (m.p * m.q * m.gemm));
    printf("update %.2f s, panel %.2f s, broadcast and waiting %.2f s, swap %.2f s, solution %.2f s\n", t.update, t.panel, t.broadcast, t.swap,
           t.solve);
    if (m.transfer > 0) {
        printf("NB from which transfers hide behind products: %.0f\n", 4 * m.gemm / m.transfer);
    }
    return 0;
}
