/*
 * What the CPU versions of kernels are made of: arithmetic as AMD IL has it, arrays, positions.
 */
#ifndef BROOK_CPU_KERNEL_H
#define BROOK_CPU_KERNEL_H

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "brook/capi.h"
#include "brook/types.h"

namespace brook {
namespace cpu {

/* Kernels compute in 32 bits at least; streams may store less. */
inline int wide(char v) { return static_cast<signed char>(v); }
inline int wide(short v) { return v; }
inline unsigned int wide(unsigned char v) { return v; }
inline unsigned int wide(unsigned short v) { return v; }
template<class T> inline const T& wide(const T& v) { return v; }

template<class T> struct Wide { typedef T type; };
template<> struct Wide<char> { typedef int type; };
template<> struct Wide<short> { typedef int type; };
template<> struct Wide<unsigned char> { typedef unsigned int type; };
template<> struct Wide<unsigned short> { typedef unsigned int type; };

#define BROOK_WIDE(T) \
    inline Vec<Wide<T>::type, 2> wide(const Vec<T, 2>& v) { return Vec<Wide<T>::type, 2>(wide(v.x), wide(v.y)); } \
    inline Vec<Wide<T>::type, 3> wide(const Vec<T, 3>& v) { return Vec<Wide<T>::type, 3>(wide(v.x), wide(v.y), wide(v.z)); } \
    inline Vec<Wide<T>::type, 4> wide(const Vec<T, 4>& v) \
    { \
        return Vec<Wide<T>::type, 4>(wide(v.x), wide(v.y), wide(v.z), wide(v.w)); \
    }
BROOK_WIDE(char)
BROOK_WIDE(unsigned char)
BROOK_WIDE(short)
BROOK_WIDE(unsigned short)
#undef BROOK_WIDE

template<class T> inline T zero() { return T(); }

/* Stores, cut to what the place holds; the value stays. */
template<class T> inline const T& store(T& to, const T& value) { return to = value; }
/* Narrow numbers are stored as CAL's formats store them: the nearest one that there is. */
inline int store(char& to, int value)
{
    to = static_cast<char>(value < -128 ? -128 : value > 127 ? 127 : value);
    return value;
}
inline int store(short& to, int value)
{
    to = static_cast<short>(value < -32768 ? -32768 : value > 32767 ? 32767 : value);
    return value;
}
inline unsigned int store(unsigned char& to, unsigned int value)
{
    to = static_cast<unsigned char>(value > 255 ? 255 : value);
    return value;
}
inline unsigned int store(unsigned short& to, unsigned int value)
{
    to = static_cast<unsigned short>(value > 65535 ? 65535 : value);
    return value;
}
template<class T, class V, int N> inline const Vec<V, N>& store(Vec<T, N>& to, const Vec<V, N>& value)
{
    for (int i = 0; i < N; ++i) {
        store(to[i], value[i]);
    }
    return value;
}
template<class T, int N> inline const Vec<T, N>& store(Vec<T, N>& to, const Vec<T, N>& value) { return to = value; }

/* Components. */
template<class T, int N> inline Vec<T, 2> pick(const Vec<T, N>& v, int a, int b) { return Vec<T, 2>(v[a], v[b]); }
template<class T, int N> inline Vec<T, 3> pick(const Vec<T, N>& v, int a, int b, int c) { return Vec<T, 3>(v[a], v[b], v[c]); }
template<class T, int N> inline Vec<T, 4> pick(const Vec<T, N>& v, int a, int b, int c, int d)
{
    return Vec<T, 4>(v[a], v[b], v[c], v[d]);
}
template<class T, class V, int N> inline Vec<V, 2> set(Vec<T, N>& to, const Vec<V, 2>& value, int a, int b)
{
    const Vec<V, 2> v = value;
    store(to[a], v.x);
    store(to[b], v.y);
    return v;
}
template<class T, class V, int N> inline Vec<V, 3> set(Vec<T, N>& to, const Vec<V, 3>& value, int a, int b, int c)
{
    const Vec<V, 3> v = value;
    store(to[a], v.x);
    store(to[b], v.y);
    store(to[c], v.z);
    return v;
}
template<class T, class V, int N> inline Vec<V, 4> set(Vec<T, N>& to, const Vec<V, 4>& value, int a, int b, int c, int d)
{
    const Vec<V, 4> v = value;
    store(to[a], v.x);
    store(to[b], v.y);
    store(to[c], v.z);
    store(to[d], v.w);
    return v;
}

/* Some components as something to refer to; they are written back at the end of the expression. */
template<class T, int N, int M> class Part {
public:
    Part(Vec<T, N>& whole, int a, int b, int c, int d) : whole_(whole)
    {
        at_[0] = a;
        at_[1] = b;
        at_[2] = c;
        at_[3] = d;
        for (int i = 0; i < M; ++i) {
            part_[i] = wide(whole_[at_[i]]);
        }
    }
    ~Part()
    {
        for (int i = 0; i < M; ++i) {
            store(whole_[at_[i]], part_[i]);
        }
    }
    Vec<typename Wide<T>::type, M>& ref() { return part_; }

private:
    Vec<T, N>& whole_;
    Vec<typename Wide<T>::type, M> part_;
    int at_[4];
};
template<class T, int N> inline Part<T, N, 2> part(Vec<T, N>& v, int a, int b) { return Part<T, N, 2>(v, a, b, 0, 0); }
template<class T, int N> inline Part<T, N, 3> part(Vec<T, N>& v, int a, int b, int c) { return Part<T, N, 3>(v, a, b, c, 0); }
template<class T, int N> inline Part<T, N, 4> part(Vec<T, N>& v, int a, int b, int c, int d)
{
    return Part<T, N, 4>(v, a, b, c, d);
}

/* Likewise for numbers that are stored in fewer bits than they are computed in. */
template<class T, class W> class Widened {
public:
    explicit Widened(T& narrow) : narrow_(narrow), wide_(wide(narrow)) {}
    ~Widened() { store(narrow_, wide_); }
    W& ref() { return wide_; }

private:
    T& narrow_;
    W wide_;
};
template<class T> inline Widened<T, typename Wide<T>::type> widened(T& v) { return Widened<T, typename Wide<T>::type>(v); }
template<class T, int N> inline Widened<Vec<T, N>, Vec<typename Wide<T>::type, N> > widened(Vec<T, N>& v)
{
    return Widened<Vec<T, N>, Vec<typename Wide<T>::type, N> >(v);
}

template<class T> inline T infinity(int negative)
{
    return negative ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
}

/* Conversions as the machine has them. */
inline int convert_to(int*, int v) { return v; }
inline int convert_to(int*, unsigned int v) { return static_cast<int>(v); }
inline int convert_to(int*, float v)
{
    return v >= 2147483648.0f ? 2147483647 : v <= -2147483648.0f ? -2147483647 - 1 : v == v ? static_cast<int>(v) : 0;
}
inline int convert_to(int*, double v)
{
    return v >= 2147483648.0 ? 2147483647 : v <= -2147483648.0 ? -2147483647 - 1 : v == v ? static_cast<int>(v) : 0;
}
inline unsigned int convert_to(unsigned int*, int v) { return static_cast<unsigned int>(v); }
inline unsigned int convert_to(unsigned int*, unsigned int v) { return v; }
inline unsigned int convert_to(unsigned int*, float v)
{
    return v >= 4294967296.0f ? 4294967295u : v > 0.0f ? static_cast<unsigned int>(v) : 0u;
}
inline unsigned int convert_to(unsigned int*, double v)
{
    return v >= 4294967296.0 ? 4294967295u : v > 0.0 ? static_cast<unsigned int>(v) : 0u;
}
template<class T> inline float convert_to(float*, T v) { return static_cast<float>(v); }
template<class T> inline double convert_to(double*, T v) { return static_cast<double>(v); }
template<class To, class From> inline To convert(const From& v) { return convert_to(static_cast<To*>(0), v); }
template<class To, class From> inline Vec<To, 2> convert(const Vec<From, 2>& v)
{
    return Vec<To, 2>(convert<To>(v.x), convert<To>(v.y));
}
template<class To, class From> inline Vec<To, 3> convert(const Vec<From, 3>& v)
{
    return Vec<To, 3>(convert<To>(v.x), convert<To>(v.y), convert<To>(v.z));
}
template<class To, class From> inline Vec<To, 4> convert(const Vec<From, 4>& v)
{
    return Vec<To, 4>(convert<To>(v.x), convert<To>(v.y), convert<To>(v.z), convert<To>(v.w));
}

/* Whole numbers wrap around. */
inline int wrap(unsigned int v) { return static_cast<int>(v); }
inline unsigned int bits(int v) { return static_cast<unsigned int>(v); }
inline unsigned int magnitude(int v) { return v < 0 ? 0u - bits(v) : bits(v); }

#define BROOK_EACH_1(F) \
    template<class T> inline Vec<T, 2> F(const Vec<T, 2>& a) { return Vec<T, 2>(F(a.x), F(a.y)); } \
    template<class T> inline Vec<T, 3> F(const Vec<T, 3>& a) { return Vec<T, 3>(F(a.x), F(a.y), F(a.z)); } \
    template<class T> inline Vec<T, 4> F(const Vec<T, 4>& a) { return Vec<T, 4>(F(a.x), F(a.y), F(a.z), F(a.w)); }
#define BROOK_EACH_2(F) \
    template<class T> inline Vec<T, 2> F(const Vec<T, 2>& a, const Vec<T, 2>& b) { return Vec<T, 2>(F(a.x, b.x), F(a.y, b.y)); } \
    template<class T> inline Vec<T, 3> F(const Vec<T, 3>& a, const Vec<T, 3>& b) \
    { \
        return Vec<T, 3>(F(a.x, b.x), F(a.y, b.y), F(a.z, b.z)); \
    } \
    template<class T> inline Vec<T, 4> F(const Vec<T, 4>& a, const Vec<T, 4>& b) \
    { \
        return Vec<T, 4>(F(a.x, b.x), F(a.y, b.y), F(a.z, b.z), F(a.w, b.w)); \
    }

inline int add(int a, int b) { return wrap(bits(a) + bits(b)); }
inline unsigned int add(unsigned int a, unsigned int b) { return a + b; }
inline float add(float a, float b) { return a + b; }
inline double add(double a, double b) { return a + b; }
BROOK_EACH_2(add)
inline int sub(int a, int b) { return wrap(bits(a) - bits(b)); }
inline unsigned int sub(unsigned int a, unsigned int b) { return a - b; }
inline float sub(float a, float b) { return a - b; }
inline double sub(double a, double b) { return a - b; }
BROOK_EACH_2(sub)
inline int mul(int a, int b) { return wrap(bits(a) * bits(b)); }
inline unsigned int mul(unsigned int a, unsigned int b) { return a * b; }
inline float mul(float a, float b) { return a * b; }
inline double mul(double a, double b) { return a * b; }
BROOK_EACH_2(mul)

/* A divisor of 0 gives all ones. */
inline int with_sign(unsigned int v, bool negative) { return wrap(negative ? 0u - v : v); }
inline unsigned int div(unsigned int a, unsigned int b) { return b ? a / b : 0xFFFFFFFFu; }
inline int div(int a, int b) { return with_sign(div(magnitude(a), magnitude(b)), (a ^ b) < 0); }
inline float div(float a, float b) { return a / b; }
inline double div(double a, double b) { return a / b; }
BROOK_EACH_2(div)
inline unsigned int rem(unsigned int a, unsigned int b) { return b ? a % b : 0xFFFFFFFFu; }
inline int rem(int a, int b) { return with_sign(rem(magnitude(a), magnitude(b)), a < 0); }
BROOK_EACH_2(rem)
inline unsigned int shl(unsigned int a, unsigned int b) { return a << (b & 31u); }
inline int shl(int a, int b) { return wrap(bits(a) << (bits(b) & 31u)); }
BROOK_EACH_2(shl)
inline unsigned int shr(unsigned int a, unsigned int b) { return a >> (b & 31u); }
inline int shr(int a, int b) { return a >> (b & 31); }
BROOK_EACH_2(shr)
inline unsigned int bit_and(unsigned int a, unsigned int b) { return a & b; }
inline int bit_and(int a, int b) { return a & b; }
BROOK_EACH_2(bit_and)
inline unsigned int bit_or(unsigned int a, unsigned int b) { return a | b; }
inline int bit_or(int a, int b) { return a | b; }
BROOK_EACH_2(bit_or)
inline unsigned int bit_xor(unsigned int a, unsigned int b) { return a ^ b; }
inline int bit_xor(int a, int b) { return a ^ b; }
BROOK_EACH_2(bit_xor)
inline unsigned int bit_not(unsigned int a) { return ~a; }
inline int bit_not(int a) { return ~a; }
BROOK_EACH_1(bit_not)
inline unsigned int neg(unsigned int a) { return 0u - a; }
inline int neg(int a) { return wrap(0u - bits(a)); }
inline float neg(float a) { return -a; }
inline double neg(double a) { return -a; }
BROOK_EACH_1(neg)

/* Truth: 1 or 0 of the operands' type. */
template<class T> inline bool is_true(const T& a) { return a != 0; }
template<class To> inline To number(bool a) { return static_cast<To>(a ? 1 : 0); }
inline int logic_not(int a) { return number<int >(!is_true(a)); }
inline unsigned int logic_not(unsigned int a) { return number<unsigned int >(!is_true(a)); }
inline float logic_not(float a) { return number<float >(!is_true(a)); }
inline double logic_not(double a) { return number<double >(!is_true(a)); }
BROOK_EACH_1(logic_not)
template<class T> inline bool is_lt(const T& a, const T& b) { return a < b; }
inline int lt(int a, int b) { return number<int >(is_lt(a, b)); }
inline unsigned int lt(unsigned int a, unsigned int b) { return number<unsigned int >(is_lt(a, b)); }
inline float lt(float a, float b) { return number<float >(is_lt(a, b)); }
inline double lt(double a, double b) { return number<double >(is_lt(a, b)); }
BROOK_EACH_2(lt)
template<class T> inline bool is_gt(const T& a, const T& b) { return a > b; }
inline int gt(int a, int b) { return number<int >(is_gt(a, b)); }
inline unsigned int gt(unsigned int a, unsigned int b) { return number<unsigned int >(is_gt(a, b)); }
inline float gt(float a, float b) { return number<float >(is_gt(a, b)); }
inline double gt(double a, double b) { return number<double >(is_gt(a, b)); }
BROOK_EACH_2(gt)
template<class T> inline bool is_le(const T& a, const T& b) { return a <= b; }
inline int le(int a, int b) { return number<int >(is_le(a, b)); }
inline unsigned int le(unsigned int a, unsigned int b) { return number<unsigned int >(is_le(a, b)); }
inline float le(float a, float b) { return number<float >(is_le(a, b)); }
inline double le(double a, double b) { return number<double >(is_le(a, b)); }
BROOK_EACH_2(le)
template<class T> inline bool is_ge(const T& a, const T& b) { return a >= b; }
inline int ge(int a, int b) { return number<int >(is_ge(a, b)); }
inline unsigned int ge(unsigned int a, unsigned int b) { return number<unsigned int >(is_ge(a, b)); }
inline float ge(float a, float b) { return number<float >(is_ge(a, b)); }
inline double ge(double a, double b) { return number<double >(is_ge(a, b)); }
BROOK_EACH_2(ge)
template<class T> inline bool is_eq(const T& a, const T& b) { return a == b; }
inline int eq(int a, int b) { return number<int >(is_eq(a, b)); }
inline unsigned int eq(unsigned int a, unsigned int b) { return number<unsigned int >(is_eq(a, b)); }
inline float eq(float a, float b) { return number<float >(is_eq(a, b)); }
inline double eq(double a, double b) { return number<double >(is_eq(a, b)); }
BROOK_EACH_2(eq)
template<class T> inline bool is_ne(const T& a, const T& b) { return a != b; }
inline int ne(int a, int b) { return number<int >(is_ne(a, b)); }
inline unsigned int ne(unsigned int a, unsigned int b) { return number<unsigned int >(is_ne(a, b)); }
inline float ne(float a, float b) { return number<float >(is_ne(a, b)); }
inline double ne(double a, double b) { return number<double >(is_ne(a, b)); }
BROOK_EACH_2(ne)

template<class To, class A, class B> inline Vec<To, 2> logic_and(const Vec<A, 2>& a, const Vec<B, 2>& b)
{
    return Vec<To, 2>(number<To>(is_true(a.x) && is_true(b.x)), number<To>(is_true(a.y) && is_true(b.y)));
}
template<class To, class A, class B> inline Vec<To, 2> logic_or(const Vec<A, 2>& a, const Vec<B, 2>& b)
{
    return Vec<To, 2>(number<To>(is_true(a.x) || is_true(b.x)), number<To>(is_true(a.y) || is_true(b.y)));
}
#define BROOK_LOGIC(F, OP) \
    template<class To, class A, class B> inline Vec<To, 3> F(const Vec<A, 3>& a, const Vec<B, 3>& b) \
    { \
        return Vec<To, 3>(number<To>(is_true(a.x) OP is_true(b.x)), number<To>(is_true(a.y) OP is_true(b.y)), \
                          number<To>(is_true(a.z) OP is_true(b.z))); \
    } \
    template<class To, class A, class B> inline Vec<To, 4> F(const Vec<A, 4>& a, const Vec<B, 4>& b) \
    { \
        return Vec<To, 4>(number<To>(is_true(a.x) OP is_true(b.x)), number<To>(is_true(a.y) OP is_true(b.y)), \
                          number<To>(is_true(a.z) OP is_true(b.z)), number<To>(is_true(a.w) OP is_true(b.w))); \
    }
BROOK_LOGIC(logic_and, &&)
BROOK_LOGIC(logic_or, ||)
#undef BROOK_LOGIC

template<class T, int N> inline T any(const Vec<T, N>& v)
{
    bool found = false;
    for (int i = 0; i < N; ++i) {
        found = found || is_true(v[i]);
    }
    return number<T>(found);
}
template<class T, int N> inline T all(const Vec<T, N>& v)
{
    bool found = true;
    for (int i = 0; i < N; ++i) {
        found = found && is_true(v[i]);
    }
    return number<T>(found);
}

inline int one_of(int) { return 1; }
inline unsigned int one_of(unsigned int) { return 1u; }
inline float one_of(float) { return 1.0f; }
inline double one_of(double) { return 1.0; }
template<class T, int N> inline Vec<T, N> one_of(const Vec<T, N>&) { return Vec<T, N>(Splat(), one_of(T())); }
/* Narrow numbers step as wide ones and are cut when they are stored. */
template<class T> inline const T& increment(T& v) { store(v, add(wide(v), one_of(wide(v)))); return v; }
template<class T> inline const T& decrement(T& v) { store(v, sub(wide(v), one_of(wide(v)))); return v; }
template<class T> inline T post_increment(T& v) { const T old = v; increment(v); return old; }
template<class T> inline T post_decrement(T& v) { const T old = v; decrement(v); return old; }

/* The functions of the language. */
inline int abs(int a) { return wrap(magnitude(a)); }
inline float abs(float a) { return std::fabs(a); }
BROOK_EACH_1(abs)
inline int sign(int a) { return a > 0 ? 1 : a < 0 ? -1 : 0; }
inline unsigned int sign(unsigned int a) { return a ? 1u : 0u; }
inline float sign(float a) { return a > 0.0f ? 1.0f : a == 0.0f ? 0.0f : -1.0f; }
BROOK_EACH_1(sign)
inline int min(int a, int b) { return a < b ? a : b; }
inline unsigned int min(unsigned int a, unsigned int b) { return a < b ? a : b; }
inline float min(float a, float b) { return a < b ? a : b; }
BROOK_EACH_2(min)
inline int max(int a, int b) { return a >= b ? a : b; }
inline unsigned int max(unsigned int a, unsigned int b) { return a >= b ? a : b; }
inline float max(float a, float b) { return a >= b ? a : b; }
BROOK_EACH_2(max)
template<class T> inline T clamp(const T& v, const T& low, const T& high) { return min(max(v, low), high); }
inline float floor(float a) { return std::floor(a); }
BROOK_EACH_1(floor)
inline float round(float a) { return std::floor(a + 0.5f); }
BROOK_EACH_1(round)
/* A difference may be rounded to 1; of NaN and infinity it is NaN. */
inline float frac_of(float v) { return v >= 1.0f ? 0.99999994f : v; }
inline float frac(float a) { return frac_of(a - std::floor(a)); }
BROOK_EACH_1(frac)
inline float cut(float v) { return v < 0.0f ? std::ceil(v) : std::floor(v); }
inline float fmod(float a, float b) { return a - cut(a / b) * b; }
BROOK_EACH_2(fmod)
inline float sqrt(float a) { return std::sqrt(a); }
BROOK_EACH_1(sqrt)
inline float rsqrt(float a) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a))); }
BROOK_EACH_1(rsqrt)
inline float exp(float a) { return std::exp(a); }
BROOK_EACH_1(exp)
inline float log(float a) { return std::log(a); }
BROOK_EACH_1(log)
inline float sin(float a) { return std::sin(a); }
BROOK_EACH_1(sin)
inline float cos(float a) { return std::cos(a); }
BROOK_EACH_1(cos)
inline float asin(float a) { return std::asin(a); }
BROOK_EACH_1(asin)
inline float acos(float a) { return std::acos(a); }
BROOK_EACH_1(acos)
inline float pow(float a, float b) { return a < 0.0f ? std::numeric_limits<float>::quiet_NaN() : std::pow(a, b); }
BROOK_EACH_2(pow)
inline unsigned int pattern(float v)
{
    unsigned int bits;
    std::memcpy(&bits, &v, sizeof bits);
    return bits & 0x7FFFFFFFu;
}
inline float isfinite_(float a) { return number<float>(pattern(a) < 0x7F800000u); }
BROOK_EACH_1(isfinite_)
inline float isinf_(float a) { return number<float>(pattern(a) == 0x7F800000u); }
BROOK_EACH_1(isinf_)
inline float isnan_(float a) { return number<float>(pattern(a) > 0x7F800000u); }
BROOK_EACH_1(isnan_)
#undef BROOK_EACH_1
#undef BROOK_EACH_2

template<class T> inline T dot(const T& a, const T& b) { return mul(a, b); }
template<class T, int N> inline T dot(const Vec<T, N>& a, const Vec<T, N>& b)
{
    T sum = mul(a[0], b[0]);
    for (int i = 1; i < N; ++i) {
        sum = add(mul(a[i], b[i]), sum);
    }
    return sum;
}
template<class T> inline Vec<T, 3> cross(const Vec<T, 3>& a, const Vec<T, 3>& b)
{
    return sub(mul(pick(a, 1, 2, 0), pick(b, 2, 0, 1)), mul(pick(a, 2, 0, 1), pick(b, 1, 2, 0)));
}
template<int N> inline Vec<float, N> normalize(const Vec<float, N>& v)
{
    return div(v, Vec<float, N>(Splat(), std::sqrt(dot(v, v))));
}
template<class T> inline T lerp(const T& a, const T& b, const T& s) { return add(mul(s, sub(b, a)), a); }

/* Elements of a constant array; outside it is 0. */
template<class T> inline T constant(const T* values, int count, int at)
{
    return at >= 0 && at < count ? values[at] : T();
}

/* A group's shared array, as one thread sees it. */
template<class T> class Shared {
public:
    Shared(void* data, unsigned int bytes, unsigned int thread, unsigned int group)
        : data_(static_cast<T*>(data)), count_(bytes / 16), own_(thread * (bytes / 16 / group))
    {
    }
    T read(int at) const { return at >= 0 && static_cast<unsigned int>(at) < count_ ? data_[at] : T(); }
    T read(unsigned int at) const { return at < count_ ? data_[at] : T(); }
    T& own(unsigned int at) { return data_[own_ + at]; }

private:
    T* data_;
    unsigned int count_, own_;
};

/* Where a thread is. */
class Thread {
public:
    explicit Thread(const brook_cpu_call* call)
        : call_(call), index_(0), count_(1), number_(0), last_(3), inside_(true), valid_(true)
    {
        for (int i = 0; i < 4; ++i) {
            count_ *= call->extent[i];
        }
        at_[0] = at_[1] = at_[2] = at_[3] = 0;
    }
    void seek(size_t index)
    {
        for (int i = 0; i < 4; ++i) {
            at_[i] = static_cast<unsigned int>(index % call_->extent[i]) + call_->origin[i];
            index /= call_->extent[i];
        }
    }
    /* To the first thread of a group, whose position has so many axes. */
    void seek_in_group(size_t group, int axes)
    {
        size_t index = group * call_->group;
        index_ = index;
        last_ = axes - 1;
        for (int i = 0; i < last_; ++i) {
            at_[i] = static_cast<unsigned int>(index % call_->shape[i]);
            index /= call_->shape[i];
        }
        at_[last_] = static_cast<unsigned int>(index);
        number_ = 0;
        bound();
    }
    /* To the next one. Behind the last position are the surplus threads of the last group, whose stores are dropped; what lies behind
       the stream along the last axis stays behind it. */
    void next_in_group()
    {
        ++number_;
        ++index_;
        for (int i = 0; ++at_[i] == call_->shape[i] && i < last_; ++i) {
            at_[i] = 0;
        }
        bound();
    }
    Vec<int, 4> instance() const
    {
        return Vec<int, 4>(wrap(at_[0]), wrap(at_[1]), wrap(at_[2]), wrap(at_[3]));
    }
    Vec<float, 4> indexof() const { return convert<float>(instance()); }
    Vec<int, 4> in_group() const { return Vec<int, 4>(wrap(number_), 0, 0, 0); }
    template<class T> Shared<T> shared() const
    {
        return Shared<T>(call_->shared, call_->shared_bytes, number_, call_->group);
    }
    const brook_cpu_call* call() const { return call_; }
    unsigned int at(int axis) const { return at_[axis]; }
    /* The stream whose shape rules has an element there. */
    bool inside() const { return inside_; }
    const bool* valid() const { return &valid_; }

private:
    void bound()
    {
        inside_ = at_[last_] < call_->shape[last_];
        valid_ = index_ < count_;
    }

    const brook_cpu_call* call_;
    size_t index_, count_;
    unsigned int at_[4];
    unsigned int number_;
    int last_;
    bool inside_, valid_;
};

/* What the threads of a group keep at a barrier: their variables, and the place where they go on, -1 behind the end. */
template<class T> class Items {
public:
    explicit Items(unsigned int count) : items_(new (std::nothrow) T[count]()), count_(count)
    {
        if (!items_) {
            /* Nothing above takes an exception. */
            std::abort();
        }
    }
    ~Items() { delete[] items_; }
    void restart()
    {
        for (unsigned int i = 0; i < count_; ++i) {
            items_[i].__at = 0;
        }
    }
    T& operator[](unsigned int i) { return items_[i]; }

private:
    Items(const Items&);
    Items& operator=(const Items&);

    T* items_;
    unsigned int count_;
};

/* A stream as a kernel sees it. */
template<class T> class Array {
public:
    Array(const Thread& thread, int argument)
        : array_(thread.call()->arrays[argument]), call_(thread.call()), valid_(thread.valid()), same_(true), outside_()
    {
        for (int i = 0; i < 4; ++i) {
            same_ = same_ && array_.dims[i] == call_->shape[i];
        }
    }
    /* This thread's element of an input. */
    const T& input(const Thread& thread) const
    {
        if (same_ && thread.inside()) {
            return element(thread.at(0), thread.at(1), thread.at(2), thread.at(3));
        }
        unsigned int at[4];
        for (int i = 0; i < 4; ++i) {
            size_t position = thread.at(i);
            if (call_->resize) {
                position = position * array_.dims[i] / call_->shape[i];
            }
            at[i] = position < array_.dims[i] ? static_cast<unsigned int>(position) : array_.dims[i] - 1;
        }
        return element(at[0], at[1], at[2], at[3]);
    }
    /* This thread's element of an output; where a smaller one has none, what is stored is dropped. */
    T& output(const Thread& thread)
    {
        for (int i = 0; !same_ && i < 4; ++i) {
            if (thread.at(i) >= array_.dims[i]) {
                return outside_;
            }
        }
        return element(thread.at(0), thread.at(1), thread.at(2), thread.at(3));
    }
    /* Elements that make one element of a reduction's result. */
    template<class R> size_t block_size(const Array<R>& result) const
    {
        size_t count = 1;
        for (int i = 0; i < 4; ++i) {
            count *= array_.dims[i] / result.dim(i);
        }
        return count;
    }
    const T& block(const Thread& thread, size_t n) const
    {
        unsigned int at[4];
        for (int i = 0; i < 4; ++i) {
            const unsigned int factor = array_.dims[i] / call_->shape[i];
            at[i] = thread.at(i) * factor + static_cast<unsigned int>(n % factor);
            n /= factor;
        }
        return element(at[0], at[1], at[2], at[3]);
    }
    unsigned int dim(int axis) const { return array_.dims[axis]; }

    /* Any element; what lies outside is the nearest edge. */
    template<class X> const T& at(const X& x) const { return element(near(x, 0), 0, 0, 0); }
    template<class X, class Y> const T& at(const X& x, const Y& y) const { return element(near(x, 0), near(y, 1), 0, 0); }
    template<class X, class Y, class Z> const T& at(const X& x, const Y& y, const Z& z) const
    {
        return element(near(x, 0), near(y, 1), near(z, 2), 0);
    }
    template<class X> const T& at(const Vec<X, 2>& v) const { return at(v.x, v.y); }
    template<class X> const T& at(const Vec<X, 3>& v) const { return at(v.x, v.y, v.z); }
    /* Any element, to store to; what lies outside is dropped. */
    template<class X> T& cell(const X& x) { return whole(number(x), 0, 0); }
    template<class X, class Y> T& cell(const X& x, const Y& y) { return whole(number(x), number(y), 0); }
    template<class X, class Y, class Z> T& cell(const X& x, const Y& y, const Z& z)
    {
        return whole(number(x), number(y), number(z));
    }
    template<class X> T& cell(const Vec<X, 2>& v) { return cell(v.x, v.y); }
    template<class X> T& cell(const Vec<X, 3>& v) { return cell(v.x, v.y, v.z); }

private:
    static long number(int v) { return v; }
    static long number(unsigned int v) { return static_cast<long>(v); }
    static long number(float v) { return convert<int>(std::floor(v)); }
    template<class X> unsigned int near(const X& x, int axis) const
    {
        const long at = number(x), last = static_cast<long>(array_.dims[axis]) - 1;
        return static_cast<unsigned int>(at < 0 ? 0 : at > last ? last : at);
    }
    T& whole(long x, long y, long z)
    {
        const long at[3] = {x, y, z};
        for (int i = 0; i < 3; ++i) {
            if (at[i] < 0 || at[i] >= static_cast<long>(array_.dims[i])) {
                return outside_;
            }
        }
        if (!*valid_) {
            return outside_;
        }
        return element(static_cast<unsigned int>(x), static_cast<unsigned int>(y), static_cast<unsigned int>(z), 0);
    }
    T& element(unsigned int x, unsigned int y, unsigned int z, unsigned int w) const
    {
        const size_t* s = array_.strides;
        return static_cast<T*>(array_.data)[x * s[0] + y * s[1] + z * s[2] + w * s[3]];
    }

    const brook_cpu_array& array_;
    const brook_cpu_call* call_;
    const bool* valid_;
    bool same_;
    T outside_;
};

} // namespace cpu
} // namespace brook

#endif
