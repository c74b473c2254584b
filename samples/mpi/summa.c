/*
 * summa - C = A B over the processes of MPI, each with a CAL device of its own: the scalable universal matrix multiplication
 * algorithm (van de Geijn and Watts, 1997).
 *
 * Processes stand in a grid; each has one block of A, of B and of C. Step by step a panel of A's columns goes along the rows of the grid,
 * a panel of B's rows along its columns, and each process adds the product of the two to its block of C: on its device, by
 * libCALBLAS. While a thread multiplies, the next panels are on their way.
 *
 * A and B are of small integers, so that C is exact. It is checked twice: some elements against their sums, and all of them by
 * C x = A (B x) in integers modulo 2^64, with a random x: a wrong row passes by one chance in 2^64, or 2^(64 - z) if its errors are
 * multiples of 2^z.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <calblas.h>
#include <mpi.h>

/* How many places of a block are checked one by one. */
#define PLACES 256

/* What part of a distribution a process has. */
typedef struct {
    int first, count;
} Part;

/* A process in its grid. */
typedef struct {
    MPI_Comm all, row, column; /* all processes; those in its row of the grid; those in its column */
    int      rank, rows, columns, at_row, at_column;
} Grid;

/* Both panels of a step: `width` columns of A and rows of B, from `first` on. */
typedef struct {
    double*     a;
    double*     b;
    int         first, width;
    MPI_Request requests[2];
} Panels;

/* What the multiplying thread is to do, and how long it took. */
typedef struct {
    const Panels* panels;
    double*       c;
    int           m, n;
    double        seconds;
} Product;

/* Seconds of the parts of a run. */
typedef struct {
    double whole, broadcast, product;
} Times;

static void* memory(size_t bytes)
{
    void* block = calloc(bytes ? bytes : 1, 1);
    if (!block) {
        fprintf(stderr, "summa: no memory for %lu bytes\n", (unsigned long)bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return block;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Part `at` of `count` things among `parts`: parts differ by one at most. */
static Part part(int count, int parts, int at)
{
    Part mine = {count / parts * at + least(at, count % parts), count / parts + (at < count % parts)};
    return mine;
}

/* The part that thing `i` is in. */
static int owner(int count, int parts, int i)
{
    int at = 0;
    while (part(count, parts, at).first + part(count, parts, at).count <= i) {
        ++at;
    }
    return at;
}

/* Elements of the factors: integers from -8 to 8, so that sums of up to 2^46 products are exact. */
static int element(uint32_t matrix, int i, int k)
{
    uint32_t word = (uint32_t)i * 2654435761u + (uint32_t)k * 2246822519u + matrix * 3266489917u;
    word ^= word >> 15;
    word *= 2246822519u;
    word ^= word >> 13;
    return (int)(word % 17) - 8;
}

/* Element i of a random vector. */
static uint64_t weight(int i)
{
    uint64_t word = (uint64_t)i * 0x9E3779B97F4A7C15u + 0xD1B54A32D192ED03u;
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
    word = (word ^ word >> 27) * 0x94D049BB133111EBu;
    return word ^ word >> 31;
}

/* A block of a factor, by columns. */
static double* factor(uint32_t matrix, Part rows, Part columns)
{
    double* block = memory((size_t)rows.count * columns.count * sizeof *block);
    for (int k = 0; k < columns.count; ++k) {
        for (int i = 0; i < rows.count; ++i) {
            block[(size_t)k * rows.count + i] = element(matrix, rows.first + i, columns.first + k);
        }
    }
    return block;
}

/* Starts to broadcast the panels from `first` on: none is wider than `most` or lies across two processes. */
static void start(const Grid* grid, Panels* panels, int k, int first, int most, const double* a, Part rows, const double* b,
                  Part columns)
{
    int from_column = owner(k, grid->columns, first), from_row = owner(k, grid->rows, first);
    Part of_a = part(k, grid->columns, from_column), of_b = part(k, grid->rows, from_row);
    int width = least(most, least(of_a.first + of_a.count, of_b.first + of_b.count) - first);
    panels->first = first;
    panels->width = width;
    if (from_column == grid->at_column) {
        memcpy(panels->a, a + (size_t)(first - of_a.first) * rows.count, (size_t)width * rows.count * sizeof *a);
    }
    if (from_row == grid->at_row) {
        for (int j = 0; j < columns.count; ++j) {
            memcpy(panels->b + (size_t)j * width, b + (size_t)j * of_b.count + (first - of_b.first), width * sizeof *b);
        }
    }
    MPI_Ibcast(panels->a, rows.count * width, MPI_DOUBLE, from_column, grid->row, &panels->requests[0]);
    MPI_Ibcast(panels->b, columns.count * width, MPI_DOUBLE, from_row, grid->column, &panels->requests[1]);
}

/*
 * Waits for panels. MPI moves large messages only while it is called, so somebody has to call it; between calls the processor is
 * left to others, of whom some multiply.
 */
static void finish(Panels* panels)
{
    struct timespec pause = {0, 20000};
    int done = 0;
    while (MPI_Testall(2, panels->requests, &done, MPI_STATUSES_IGNORE), !done) {
        nanosleep(&pause, NULL);
    }
}

/* C += A B: pthread's function of a thread. */
static void* multiply(void* argument)
{
    Product*      product = argument;
    const Panels* p = product->panels;
    double        begin = MPI_Wtime();
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, product->m, product->n, p->width, 1.0, p->a,
                product->m > 0 ? product->m : 1, p->b, p->width, 1.0, product->c, product->m > 0 ? product->m : 1);
    product->seconds += MPI_Wtime() - begin;
    return NULL;
}

/* The whole product. `overlap`: while a step multiplies, the panels of the next are sent. */
static Times summa(const Grid* grid, int k, int most, const double* a, Part rows, const double* b, Part columns, double* c,
                   int overlap)
{
    Times   times = {0.0, 0.0, 0.0};
    Panels  panels[2];
    Product product = {NULL, c, rows.count, columns.count, 0.0};
    int     at = 0;
    for (int i = 0; i < 2; ++i) {
        panels[i].a = memory((size_t)rows.count * most * sizeof *a);
        panels[i].b = memory((size_t)columns.count * most * sizeof *b);
    }
    memset(c, 0, (size_t)rows.count * columns.count * sizeof *c);
    MPI_Barrier(grid->all);
    double begin = MPI_Wtime();
    if (k > 0) {
        start(grid, &panels[0], k, 0, most, a, rows, b, columns);
        finish(&panels[0]);
        times.broadcast += MPI_Wtime() - begin;
    }
    for (int next; k > 0; at ^= 1) {
        pthread_t thread;
        int       beside = 0;
        next = panels[at].first + panels[at].width;
        product.panels = &panels[at];
        if (overlap) {
            beside = pthread_create(&thread, NULL, multiply, &product) == 0;
        }
        if (!beside) {
            multiply(&product);
        }
        if (next < k) {
            double from = MPI_Wtime();
            start(grid, &panels[at ^ 1], k, next, most, a, rows, b, columns);
            finish(&panels[at ^ 1]);
            times.broadcast += MPI_Wtime() - from;
        }
        if (beside) {
            pthread_join(thread, NULL);
        }
        if (next >= k) {
            break;
        }
    }
    MPI_Barrier(grid->all);
    times.whole = MPI_Wtime() - begin;
    times.product = product.seconds;
    for (int i = 0; i < 2; ++i) {
        free(panels[i].a);
        free(panels[i].b);
    }
    return times;
}

/* Elements of C that are wrong, among those looked at one by one, and rows whose sums with random weights are. */
static long wrong(const Grid* grid, int n, int k, Part rows, Part columns, const double* c)
{
    long      bad = 0, all = 0;
    uint64_t* bx = memory((size_t)k * sizeof *bx);
    uint64_t* sums = memory((size_t)rows.count * sizeof *sums);
    uint64_t* whole = memory((size_t)rows.count * sizeof *whole);
    for (int place = 0; place < PLACES && rows.count > 0 && columns.count > 0; ++place) {
        /* From corner to corner, then anywhere. */
        int  i = place < 2 ? place * (rows.count - 1) : (int)(weight(place) % rows.count);
        int  j = place < 2 ? place * (columns.count - 1) : (int)(weight(~place) % columns.count);
        long sum = 0;
        for (int s = 0; s < k; ++s) {
            sum += (long)element(1, rows.first + i, s) * element(2, s, columns.first + j);
        }
        bad += c[(size_t)j * rows.count + i] != (double)sum;
    }
    for (int j = 0; j < n; ++j) {
        uint64_t x = weight(j);
        for (int s = 0; s < k; ++s) {
            bx[s] += (uint64_t)(int64_t)element(2, s, j) * x;
        }
    }
    for (int j = 0; j < columns.count; ++j) {
        uint64_t x = weight(columns.first + j);
        for (int i = 0; i < rows.count; ++i) {
            double value = c[(size_t)j * rows.count + i];
            int    whole_number = value >= -9e15 && value <= 9e15 && value == (double)(int64_t)value;
            bad += !whole_number;
            sums[i] += whole_number ? (uint64_t)(int64_t)value * x : 0;
        }
    }
    MPI_Allreduce(sums, whole, rows.count, MPI_UINT64_T, MPI_SUM, grid->row);
    for (int i = 0; i < rows.count; ++i) {
        uint64_t sum = 0;
        for (int s = 0; s < k; ++s) {
            sum += (uint64_t)(int64_t)element(1, rows.first + i, s) * bx[s];
        }
        bad += sum != whole[i];
    }
    free(bx);
    free(sums);
    free(whole);
    MPI_Allreduce(&bad, &all, 1, MPI_LONG, MPI_SUM, grid->all);
    return all;
}

/* The mean over all processes. */
static double mean(const Grid* grid, double mine)
{
    double sum = 0.0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, grid->all);
    return sum / (grid->rows * grid->columns);
}

static void show(const Grid* grid, const char* what, Times times, double operations)
{
    double product = mean(grid, times.product), broadcast = mean(grid, times.broadcast);
    if (grid->rank == 0) {
        printf("%s: %.2f ms, %.2f GFLOPS (product %.2f ms, broadcast %.2f ms)\n", what, times.whole * 1e3,
               operations / times.whole * 1e-9, product * 1e3, broadcast * 1e3);
    }
}

/* Sizes from the command line: M, N, K, the width of panels, how often. */
static void options(int argc, char** argv, int* values[5])
{
    static const char letters[] = "mnkwi";
    static const long most[] = {1000000, 1000000, 1000000, 2000, 1000};
    for (int i = 1; i < argc; ++i) {
        const char* at = argv[i][0] == '-' && argv[i][1] && !argv[i][2] ? strchr(letters, argv[i][1]) : NULL;
        char*       end = NULL;
        long        value = at && i + 1 < argc ? strtol(argv[++i], &end, 10) : -1;
        if (!at || !end || *end || value < (at - letters >= 3) || value > most[at - letters]) {
            fprintf(stderr, "%s [-m ROWS] [-n COLUMNS] [-k STEPS] [-w WIDTH] [-i TIMES]: C = A B, C of ROWS x COLUMNS, sums of "
                            "STEPS, panels of WIDTH at most\n", argv[0]);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        *values[at - letters] = (int)value;
    }
}

int main(int argc, char** argv)
{
    int  m = 1024, n = 1024, k = 1024, width = 256, times = 3, provided = 0, size = 1, shape[2] = {0, 0};
    int* values[5] = {&m, &n, &k, &width, &times};
    Grid grid;

    /* One device for each process of a machine. libCALBLAS reads this when it multiplies first. */
    setenv("CALBLAS_DEVICES", "rank", 0);
    /* Only this thread calls MPI. */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (provided < MPI_THREAD_FUNNELED) {
        fprintf(stderr, "summa: this MPI bears no threads\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    options(argc, argv, values);
    grid.all = MPI_COMM_WORLD;
    MPI_Comm_size(grid.all, &size);
    MPI_Comm_rank(grid.all, &grid.rank);
    MPI_Dims_create(size, 2, shape);
    grid.rows = shape[0];
    grid.columns = shape[1];
    grid.at_row = grid.rank / grid.columns;
    grid.at_column = grid.rank % grid.columns;
    MPI_Comm_split(grid.all, grid.at_row, grid.at_column, &grid.row);
    MPI_Comm_split(grid.all, grid.at_column, grid.at_row, &grid.column);

    Part    rows = part(m, grid.rows, grid.at_row), columns = part(n, grid.columns, grid.at_column);
    double* a = factor(1, rows, part(k, grid.columns, grid.at_column));
    double* b = factor(2, part(k, grid.rows, grid.at_row), columns);
    double* c = memory((size_t)rows.count * columns.count * sizeof *c);
    double  operations = 2.0 * m * n * k;
    long    bad = 0;
    if (grid.rank == 0) {
        printf("%d x %d x %d on a grid of %d x %d, panels of %d\n", m, n, k, grid.rows, grid.columns, width);
    }
    /* The first run builds and measures kernels. */
    summa(&grid, k, width, a, rows, b, columns, c, 0);
    bad += wrong(&grid, n, k, rows, columns, c);
    for (int overlap = 0; overlap < 2; ++overlap) {
        Times best = {1e30, 0.0, 0.0};
        for (int i = 0; i < times; ++i) {
            Times run = summa(&grid, k, width, a, rows, b, columns, c, overlap);
            /* All take the same run. */
            MPI_Bcast(&run.whole, 1, MPI_DOUBLE, 0, grid.all);
            best = run.whole < best.whole ? run : best;
        }
        bad += wrong(&grid, n, k, rows, columns, c);
        show(&grid, overlap ? "overlapped" : "step by step", best, operations);
    }
    if (grid.rank == 0) {
        printf("summa: %s\n", bad == 0 ? "PASS" : "FAIL");
    }
    free(a);
    free(b);
    free(c);
    MPI_Comm_free(&grid.row);
    MPI_Comm_free(&grid.column);
    MPI_Finalize();
    return bad == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
