/*
 * What Brook+ costs, beside the same work by the bare interface, in one run: the optimised product beside its IL written by hand,
 * stream operations beside launches and copies, and the compiler. Peers take turns, and of each the best and the middle
 * round count, so that a busy machine disturbs both alike.
 *
 *   usage: bench BRCC FOLDER [ROUNDS]        FOLDER is for what the compiler writes
 *
 * Built and run by scripts/bench-brook.sh. The kernels are those of the samples, by the headers that brcc made of them.
 */
#include <algorithm>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "optimized_matmult.h"
#include "prefix_sum.h"
#include "sum.h"

#include "cal.h"
#include "calcl.h"

static double seconds()
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (double)now.tv_sec + 1e-6 * (double)now.tv_usec;
}

static void check(bool fine, const char* what)
{
    if (!fine) {
        fprintf(stderr, "bench: %s: %s, %s\n", what, calGetErrorString(), calclGetErrorString());
        exit(1);
    }
}

template<class T> static void fine(brook::Stream<T>& stream, const char* what)
{
    if (stream.error() != BR_NO_ERROR) {
        fprintf(stderr, "bench: %s: %s\n", what, stream.errorLog());
        exit(1);
    }
}

/* Times of one of two peers. */
struct Times {
    std::vector<double> all;
    void add(double start) { all.push_back(seconds() - start); }
    double best() const { return *std::min_element(all.begin(), all.end()); }
    double middle() const
    {
        std::vector<double> sorted(all);
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 2];
    }
};

/* The device that Brook+ takes too: the first, or the one that BRT_ADAPTER numbers. */
struct Cal {
    CALdevice device;
    CALdeviceinfo info;
    CALcontext context;

    Cal()
    {
        const char* adapter = getenv("BRT_ADAPTER");
        CALuint ordinal = adapter ? (CALuint)atoi(adapter) : 0;
        check(calInit() == CAL_RESULT_OK, "calInit");
        check(calDeviceOpen(&device, ordinal) == CAL_RESULT_OK, "calDeviceOpen");
        check(calDeviceGetInfo(&info, ordinal) == CAL_RESULT_OK, "calDeviceGetInfo");
        check(calCtxCreate(&context, device) == CAL_RESULT_OK, "calCtxCreate");
    }
    void wait(CALevent event) const
    {
        while (calCtxIsEventDone(context, event) == CAL_RESULT_PENDING) {
        }
    }
};

struct Buffer {
    CALresource resource;
    CALmem mem;

    Buffer(const Cal& cal, unsigned width, unsigned height, CALformat format, bool remote = false)
    {
        CALresult result = remote ? calResAllocRemote2D(&resource, const_cast<CALdevice*>(&cal.device), 1, width, height, format, 0)
                                  : calResAllocLocal2D(&resource, cal.device, width, height, format, 0);
        check(result == CAL_RESULT_OK, "memory");
        check(calCtxGetMem(&mem, cal.context, resource) == CAL_RESULT_OK, "calCtxGetMem");
    }
    /* Rows of so many bytes, packed in the host's memory; `element` of them make a step of the pitch. */
    void copy(void* host, size_t row, unsigned height, size_t element, bool out) const
    {
        CALvoid* data = NULL;
        CALuint pitch = 0;
        check(calResMap(&data, &pitch, resource, 0) == CAL_RESULT_OK, "calResMap");
        for (unsigned y = 0; y < height; y++) {
            char* theirs = (char*)data + y * pitch * element;
            char* mine = (char*)host + y * row;
            memcpy(out ? mine : theirs, out ? theirs : mine, row);
        }
        check(calResUnmap(resource) == CAL_RESULT_OK, "calResUnmap");
    }
};

struct Program {
    CALimage image;
    CALmodule module;
    CALfunc entry;

    Program(const Cal& cal, const char* text)
    {
        CALobject object;
        check(calclCompile(&object, CAL_LANGUAGE_IL, text, cal.info.target) == CAL_RESULT_OK, "calclCompile");
        check(calclLink(&image, &object, 1) == CAL_RESULT_OK, "calclLink");
        calclFreeObject(object);
        check(calModuleLoad(&module, cal.context, image) == CAL_RESULT_OK, "calModuleLoad");
        check(calModuleGetEntry(&entry, cal.context, module, "main") == CAL_RESULT_OK, "calModuleGetEntry");
    }
    void bind(const Cal& cal, const char* symbol, const Buffer& buffer) const
    {
        CALname name;
        check(calModuleGetName(&name, cal.context, module, symbol) == CAL_RESULT_OK, symbol);
        check(calCtxSetMem(cal.context, name, buffer.mem) == CAL_RESULT_OK, "calCtxSetMem");
    }
    CALevent run(const Cal& cal, unsigned width, unsigned height) const
    {
        CALdomain domain = {0, 0, width, height};
        CALevent event;
        check(calCtxRunProgram(&event, cal.context, entry, &domain) == CAL_RESULT_OK, "calCtxRunProgram");
        return event;
    }
};

static std::string number(const char* before, unsigned n, const char* after)
{
    char digits[16];
    sprintf(digits, "%u", n);
    return std::string(before) + digits + after;
}

static const char* const RESOURCE = ")_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n";
static const char* const POSITION = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) v0.xy__\n";

/* The tutorial's product as somebody writes it who counts instructions: 12 fetches a round, one register of coordinates, a counter.
 * The sums are those of the source, four products and then the sum so far; or `chained`, as the tutorial's own IL has
 * them, four multiply-adds onto the sum so far, which rounds otherwise. */
static std::string productByHand(bool chained)
{
    std::string text = POSITION;
    for (unsigned k = 0; k < 8; k++)
        text += number("dcl_output_generic o", k, "\n");
    for (unsigned k = 0; k < 12; k++)
        text += number("dcl_resource_id(", k, RESOURCE);
    text += "dcl_cb cb0[1]\ndcl_literal l0, 0.0, 1.0, -1.0, 0.5\n"
            /* r0 = (x, k, y, k), r1.x = rounds left */
            "mov r0, v0.xxyy\nmov r0._y_w, l0.0w0w\nmov r1.x___, cb0[0].x\n";
    for (unsigned k = 0; k < 8; k++)
        text += number("mov r", 10 + k, ", l0.xxxx\n");
    text += "whileloop\nlt r1._y__, l0.x, r1.x\nbreak_logicalz r1.y\n";
    for (unsigned k = 0; k < 8; k++)
        text += number("sample_resource(", k, number(")_sampler(0) r", 20 + k, ", r0.yzyz\n").c_str());
    for (unsigned k = 0; k < 4; k++)
        text += number("sample_resource(", 8 + k, number(")_sampler(0) r", 30 + k, ", r0.xyxy\n").c_str());
    for (unsigned k = 0; k < 8; k++) {
        const std::string own = number("r", 10 + k, ""), sum = chained ? own : "r40";
        for (unsigned c = 0; c < 4; c++) {
            bool first = c == 0 && !chained;
            text += (first ? "mul_ieee " : "mad_ieee ") + sum + number(", r", 20 + k, ".") + std::string(4, "xyzw"[c])
                    + number(", r", 30 + c, "") + (first ? std::string() : ", " + sum) + "\n";
        }
        if (!chained)
            text += "add " + own + ", " + own + ", r40\n";
    }
    text += "add r0._y_w, r0.0y0w, l0.0y0y\nadd r1.x___, r1.x, l0.z\nendloop\n";
    for (unsigned k = 0; k < 8; k++)
        text += number("mov o", k, number(", r", 10 + k, "\n").c_str());
    return text + "end\n";
}

static void report(const char* what, const char* unit, double scale, const Times& brook, const Times& peer, const char* name)
{
    printf("%-34s %10.3f %10.3f %-7s %s %10.3f %10.3f, ratio %.3f\n", what, scale * brook.best(), scale * brook.middle(), unit, name,
           scale * peer.best(), scale * peer.middle(), peer.best() / brook.best());
}

/* C = A B, n x n, by both; the results are compared too. */
static void product(const Cal& cal, unsigned n, unsigned rounds)
{
    const unsigned quads = n / 4, rows = n / 8;
    std::vector<float> a((size_t)n * n), b(a.size()), mine(a.size()), theirs(a.size());
    unsigned dims[2] = {quads, rows}, high[2] = {quads, quads};
    unsigned state = 1;
    for (size_t i = 0; i < a.size(); i++) {
        state = state * 1664525u + 1013904223u;
        a[i] = (float)(state >> 29) / 8;
        b[i] = (float)((state >> 20) % 8) / 8;
    }
    std::vector<brook::Stream<float4> > as, bs, cs;
    std::vector<Buffer> ab, bb, cb;
    for (unsigned k = 0; k < 8; k++) {
        as.push_back(brook::Stream<float4>(2, dims));
        cs.push_back(brook::Stream<float4>(2, dims));
        as[k].read(&a[(size_t)k * rows * n]);
        ab.push_back(Buffer(cal, quads, rows, CAL_FORMAT_FLOAT_4));
        cb.push_back(Buffer(cal, quads, rows, CAL_FORMAT_FLOAT_4));
        ab[k].copy(&a[(size_t)k * rows * n], n * sizeof(float), rows, 16, false);
    }
    for (unsigned k = 0; k < 4; k++) {
        /* Rows k, k + 4, k + 8 ...; the numbers are random, so that any rows do. */
        bs.push_back(brook::Stream<float4>(2, high));
        bs[k].read(&b[(size_t)k * quads * n]);
        bb.push_back(Buffer(cal, quads, quads, CAL_FORMAT_FLOAT_4));
        bb[k].copy(&b[(size_t)k * quads * n], n * sizeof(float), quads, 16, false);
    }
    Program same(cal, productByHand(false).c_str()), chained(cal, productByHand(true).c_str());
    const Program* programs[2] = {&same, &chained};
    Buffer constant(cal, 1, 1, CAL_FORMAT_FLOAT_4, true);
    float turns[4] = {(float)quads, 0, 0, 0};
    constant.copy(turns, sizeof turns, 1, 16, false);
    for (unsigned p = 0; p < 2; p++) {
        programs[p]->bind(cal, "cb0", constant);
        for (unsigned k = 0; k < 8; k++) {
            programs[p]->bind(cal, number("i", k, "").c_str(), ab[k]);
            programs[p]->bind(cal, number("o", k, "").c_str(), cb[k]);
        }
        for (unsigned k = 0; k < 4; k++)
            programs[p]->bind(cal, number("i", 8 + k, "").c_str(), bb[k]);
    }

    Times brook, hand[2];
    for (unsigned round = 0; round <= rounds; round++) {
        double start = seconds();
        optimized_matmult((float)quads, as[0], as[1], as[2], as[3], as[4], as[5], as[6], as[7], bs[0], bs[1], bs[2], bs[3], cs[0],
                          cs[1], cs[2], cs[3], cs[4], cs[5], cs[6], cs[7]);
        cs[0].finish();
        if (round)
            brook.add(start);
        for (unsigned p = 0; p < 2; p++) {
            start = seconds();
            cal.wait(programs[p]->run(cal, quads, rows));
            if (round)
                hand[p].add(start);
        }
    }
    for (unsigned k = 0; k < 8; k++) {
        fine(cs[k], "the product");
        cs[k].write(&mine[(size_t)k * rows * n]);
        cb[k].copy(&theirs[(size_t)k * rows * n], n * sizeof(float), rows, 16, true);
    }
    for (size_t i = 0; i < mine.size(); i++)
        check(fabs(mine[i] - theirs[i]) <= 1e-4 * fabs(theirs[i]) + 1e-4, "the products differ");
    double work = 2.0 * n * n * n;
    printf("optimised product %u: %.2f GFLOPS by Brook+, %.2f by hand, %.2f by hand with chained sums\n", n, 1e-9 * work / brook.best(),
           1e-9 * work / hand[0].best(), 1e-9 * work / hand[1].best());
    report("  the same sums", "ms", 1e3, brook, hand[0], "by hand");
    report("  chained sums by hand", "ms", 1e3, brook, hand[1], "by hand");
}

/* A kernel, a read and a write of 8 x 8 elements: what an operation costs, since there is next to nothing to do. */
static void operations(const Cal& cal, unsigned rounds)
{
    const unsigned side = 8, many = 1000;
    unsigned dims[2] = {side, side};
    std::vector<float> host(side * side, 1.0f);
    brook::Stream<float> a(2, dims), b(2, dims), c(2, dims), d(2, dims);
    Buffer ab(cal, side, side, CAL_FORMAT_FLOAT_1), bb(cal, side, side, CAL_FORMAT_FLOAT_1), cb(cal, side, side, CAL_FORMAT_FLOAT_1);
    Buffer remote(cal, side, side, CAL_FORMAT_FLOAT_1, true);
    std::string text = POSITION;
    text += "dcl_output_generic o0\n";
    text += number("dcl_resource_id(", 0, RESOURCE) + number("dcl_resource_id(", 1, RESOURCE);
    text += "sample_resource(0)_sampler(0) r0, v0.xyxy\nsample_resource(1)_sampler(0) r1, v0.xyxy\nadd o0, r0, r1\nend\n";
    Program program(cal, text.c_str());
    a.read(&host[0]);
    b.read(&host[0]);
    ab.copy(&host[0], side * sizeof(float), side, 4, false);
    bb.copy(&host[0], side * sizeof(float), side, 4, false);
    program.bind(cal, "i0", ab);
    program.bind(cal, "i1", bb);
    program.bind(cal, "o0", cb);

    /* The same with a constant of its own for every call. The bare launches keep theirs. */
    text = POSITION;
    text += "dcl_output_generic o0\n";
    text += number("dcl_resource_id(", 0, RESOURCE);
    text += "dcl_cb cb0[1]\ndcl_literal l0, -0.5, 0, 0, 0\n"
            "sample_resource(0)_sampler(0) r0, v0.xyxy\n"
            "add r1, v0.xxxx, l0.xxxx\nftoi r1, r1\nige r1, r1, cb0[0].x\nif_logicalnz r1.x\n"
            "itof r2, cb0[0].x\nsub r2.x___, v0.x, r2.x\nmov r2._y__, v0.y\nsample_resource(0)_sampler(0) r3, r2.xyxy\n"
            "add r0, r0, r3\nendif\nmov o0, r0\nend\n";
    Program step(cal, text.c_str());
    Buffer distance(cal, 1, 1, CAL_FORMAT_INT_4, true);
    int three[4] = {3, 0, 0, 0};
    distance.copy(three, sizeof three, 1, 16, false);
    step.bind(cal, "i0", ab);
    step.bind(cal, "o0", bb);
    step.bind(cal, "cb0", distance);

    Times calls, launches, submitted, constants, steps, alone, waited, reads, copies, writes, fetches;
    for (unsigned round = 0; round <= rounds; round++) {
        CALevent event = 0;
        double start = seconds();
        for (unsigned i = 0; i < many; i++)
            sum(a, b, c);
        c.finish();
        if (round)
            calls.add(start);
        start = seconds();
        for (unsigned i = 0; i < many; i++)
            event = program.run(cal, side, side);
        cal.wait(event);
        if (round)
            launches.add(start);
        start = seconds();
        for (unsigned i = 0; i < many; i++) {
            event = program.run(cal, side, side);
            /* Asked about once, so that it is submitted: what a call of Brook+ does too. */
            calCtxIsEventDone(cal.context, event);
        }
        cal.wait(event);
        if (round)
            submitted.add(start);

        start = seconds();
        for (unsigned i = 0; i < many; i++)
            scan(a, (int)(round * many + i), d);
        d.finish();
        if (round)
            constants.add(start);
        start = seconds();
        for (unsigned i = 0; i < many; i++)
            calCtxIsEventDone(cal.context, event = step.run(cal, side, side));
        cal.wait(event);
        if (round)
            steps.add(start);

        start = seconds();
        for (unsigned i = 0; i < many; i++) {
            sum(a, b, c);
            c.finish();
        }
        if (round)
            alone.add(start);
        start = seconds();
        for (unsigned i = 0; i < many; i++)
            cal.wait(program.run(cal, side, side));
        if (round)
            waited.add(start);

        start = seconds();
        for (unsigned i = 0; i < many; i++)
            a.read(&host[0]);
        a.finish();
        if (round)
            reads.add(start);
        start = seconds();
        for (unsigned i = 0; i < many; i++) {
            remote.copy(&host[0], side * sizeof(float), side, 4, false);
            check(calMemCopy(&event, cal.context, remote.mem, ab.mem, 0) == CAL_RESULT_OK, "calMemCopy");
            /* The next round fills the same memory. */
            cal.wait(event);
        }
        if (round)
            copies.add(start);

        start = seconds();
        for (unsigned i = 0; i < many; i++)
            c.write(&host[0]);
        if (round)
            writes.add(start);
        start = seconds();
        for (unsigned i = 0; i < many; i++) {
            check(calMemCopy(&event, cal.context, cb.mem, remote.mem, 0) == CAL_RESULT_OK, "calMemCopy");
            cal.wait(event);
            remote.copy(&host[0], side * sizeof(float), side, 4, true);
        }
        if (round)
            fetches.add(start);
    }
    fine(c, "the sum");
    fine(d, "the prefix sum");
    const double each = 1e6 / many; /* microseconds of one */
    report("kernel call, one of many", "us", each, calls, submitted, "launch ");
    printf("  over a bare launch: %.2f us; over one that waits to be submitted with others: %.2f us\n",
           each * (calls.best() - submitted.best()), each * (calls.best() - launches.best()));
    report("  with a new constant each", "us", each, constants, steps, "launch ");
    printf("  over a bare launch: %.2f us\n", each * (constants.best() - steps.best()));
    report("kernel call, and wait", "us", each, alone, waited, "launch ");
    printf("  over a bare launch: %.2f us\n", each * (alone.best() - waited.best()));
    report("streamRead of 64 numbers", "us", each, reads, copies, "copy   ");
    report("streamWrite of 64 numbers", "us", each, writes, fetches, "copy   ");
}

/* A thousand lines of kernels. */
static void compiler(const char* brcc, const std::string& folder, unsigned rounds)
{
    std::string file = folder + "/thousand.br";
    FILE* out = fopen(file.c_str(), "w");
    check(out != NULL, file.c_str());
    /* 20 lines each. */
    for (unsigned k = 0; k < 50; k++) {
        fprintf(out,
                "kernel float4 part%u(float4 x, float4 y)\n"
                "{\n"
                "    float4 z = x * y + x.wzyx;\n"
                "    return max(z, sqrt(abs(y)));\n"
                "}\n"
                "kernel void work%u(float4 a<>, float4 b[][], float m[16], int count, float scale, out float4 c<>, out float d<>)\n"
                "{\n"
                "    int4 at = instance();\n"
                "    float4 sum = a * float4(scale, scale, scale, 1.0f);\n"
                "    int k;\n"
                "    for (k = 0; k < count; k++) {\n"
                "        float4 other = b[at.y + k][at.x - %u];\n"
                "        if (other.x > sum.y && k %% 2 == 0)\n"
                "            sum = part%u(sum, other);\n"
                "        else\n"
                "            sum.xyz = sum.zxy + other.xxx * float3(m[k], m[k + 1], 2.0f);\n"
                "    }\n"
                "    c = sum;\n"
                "    d = dot(sum, a) + exp(sum.x) / (1.0f + (float)(count << 2));\n"
                "}\n",
                k, k, k, k);
    }
    check(fclose(out) == 0, file.c_str());
    Times times;
    std::string prefix = folder + "/thousand";
    for (unsigned round = 0; round < rounds; round++) {
        double start = seconds();
        pid_t child = fork();
        if (child == 0) {
            execl(brcc, brcc, "-o", prefix.c_str(), file.c_str(), (char*)NULL);
            _exit(127);
        }
        int status = 0;
        check(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, brcc);
        times.add(start);
    }
    printf("brcc, 1000 lines of kernels: best %.1f ms, middle %.1f ms\n", 1e3 * times.best(), 1e3 * times.middle());
}

int main(int argc, char** argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: bench BRCC FOLDER [ROUNDS]\n");
        return 2;
    }
    unsigned rounds = argc > 3 ? (unsigned)atoi(argv[3]) : 20;
    rounds = rounds ? rounds : 1;
    Cal cal;
    printf("device: target %d, each line: Brook+ best, middle; peer best, middle\n", (int)cal.info.target);
    product(cal, 256, rounds);
    product(cal, 512, rounds);
    product(cal, 1024, rounds);
    operations(cal, rounds);
    compiler(argv[1], argv[2], rounds);
    return 0;
}
