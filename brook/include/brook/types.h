/*
 * Short vectors of the host: float4 and its kin. HIDE_BROOK_TYPES leaves their short names out.
 */
#ifndef BROOK_TYPES_H
#define BROOK_TYPES_H

namespace brook {

namespace cpu {
struct Splat {
};
} // namespace cpu

template<class T, int N> struct Vec;

template<class T> struct Vec<T, 2> {
    T x, y;
    Vec() : x(), y() {}
    Vec(T a, T b) : x(a), y(b) {}
    Vec(cpu::Splat, T a) : x(a), y(a) {}
    T& operator[](int i) { return i == 0 ? x : y; }
    const T& operator[](int i) const { return i == 0 ? x : y; }
};

template<class T> struct Vec<T, 3> {
    T x, y, z;
    Vec() : x(), y(), z() {}
    Vec(T a, T b, T c) : x(a), y(b), z(c) {}
    Vec(cpu::Splat, T a) : x(a), y(a), z(a) {}
    T& operator[](int i) { return i == 0 ? x : i == 1 ? y : z; }
    const T& operator[](int i) const { return i == 0 ? x : i == 1 ? y : z; }
};

template<class T> struct Vec<T, 4> {
    T x, y, z, w;
    Vec() : x(), y(), z(), w() {}
    Vec(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
    Vec(cpu::Splat, T a) : x(a), y(a), z(a), w(a) {}
    T& operator[](int i) { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
    const T& operator[](int i) const { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
};

} // namespace brook

#ifndef HIDE_BROOK_TYPES
typedef ::brook::Vec<char, 2> char2;
typedef ::brook::Vec<char, 3> char3;
typedef ::brook::Vec<char, 4> char4;
typedef ::brook::Vec<unsigned char, 2> uchar2;
typedef ::brook::Vec<unsigned char, 3> uchar3;
typedef ::brook::Vec<unsigned char, 4> uchar4;
typedef ::brook::Vec<short, 2> short2;
typedef ::brook::Vec<short, 3> short3;
typedef ::brook::Vec<short, 4> short4;
typedef ::brook::Vec<unsigned short, 2> ushort2;
typedef ::brook::Vec<unsigned short, 3> ushort3;
typedef ::brook::Vec<unsigned short, 4> ushort4;
typedef ::brook::Vec<int, 2> int2;
typedef ::brook::Vec<int, 3> int3;
typedef ::brook::Vec<int, 4> int4;
typedef ::brook::Vec<unsigned int, 2> uint2;
typedef ::brook::Vec<unsigned int, 3> uint3;
typedef ::brook::Vec<unsigned int, 4> uint4;
typedef ::brook::Vec<float, 2> float2;
typedef ::brook::Vec<float, 3> float3;
typedef ::brook::Vec<float, 4> float4;
typedef ::brook::Vec<double, 2> double2;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
#endif

#endif
