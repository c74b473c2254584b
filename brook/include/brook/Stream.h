/*
 * Streams and devices. A copy of a Stream is the same stream: it is counted, not copied.
 */
#ifndef BROOK_STREAM_H
#define BROOK_STREAM_H

#include "brook/capi.h"
#include "brook/types.h"

/* Domains take two corners as vectors; there is no other interface. */
#ifndef USE_OLD_API
#define USE_OLD_API
#endif

typedef enum BRerror {
    BR_NO_ERROR = 0,
    BR_ERROR_DECLARATION,
    BR_ERROR_READ,
    BR_ERROR_WRITE,
    BR_ERROR_KERNEL,
    BR_ERROR_DOMAIN,
    BR_ERROR_ASSIGN,
    BR_ERROR_INVALID_PARAMATER,
    BR_ERROR_NOT_SUPPORTED,
    BR_ERROR_WARNING
} BRerror;

namespace brook {

typedef brook_member StreamMember;
typedef brook_stream StreamImpl;

/* What the elements of a stream are made of. */
struct StreamType {
    const StreamMember* members;
    unsigned int count;
    unsigned int size;
};

/* brcc writes a specialisation for every struct. */
template<class T> const StreamType* getStreamType(const T*);

template<class T> struct ScalarType;
template<> struct ScalarType<char> { enum { value = 0, width = 1 }; };
template<> struct ScalarType<unsigned char> { enum { value = 1, width = 1 }; };
template<> struct ScalarType<short> { enum { value = 2, width = 1 }; };
template<> struct ScalarType<unsigned short> { enum { value = 3, width = 1 }; };
template<> struct ScalarType<int> { enum { value = 4, width = 1 }; };
template<> struct ScalarType<unsigned int> { enum { value = 5, width = 1 }; };
template<> struct ScalarType<float> { enum { value = 6, width = 1 }; };
template<> struct ScalarType<double> { enum { value = 7, width = 1 }; };
template<class T, int N> struct ScalarType<Vec<T, N> > { enum { value = ScalarType<T>::value, width = N }; };

template<class T> const StreamType* numberType()
{
    static const StreamMember member = {ScalarType<T>::value, ScalarType<T>::width, 0};
    static const StreamType type = {&member, 1, static_cast<unsigned int>(sizeof(T))};
    return &type;
}

#define BROOK_NUMBER(T) \
    template<> inline const StreamType* getStreamType(const T*) { return numberType<T >(); }
#define BROOK_NUMBERS(T) \
    BROOK_NUMBER(T) \
    template<> inline const StreamType* getStreamType(const Vec<T, 2>*) { return numberType<Vec<T, 2> >(); } \
    template<> inline const StreamType* getStreamType(const Vec<T, 3>*) { return numberType<Vec<T, 3> >(); } \
    template<> inline const StreamType* getStreamType(const Vec<T, 4>*) { return numberType<Vec<T, 4> >(); }
BROOK_NUMBERS(char)
BROOK_NUMBERS(unsigned char)
BROOK_NUMBERS(short)
BROOK_NUMBERS(unsigned short)
BROOK_NUMBERS(int)
BROOK_NUMBERS(unsigned int)
BROOK_NUMBERS(float)
BROOK_NUMBER(double)
template<> inline const StreamType* getStreamType(const Vec<double, 2>*) { return numberType<Vec<double, 2> >(); }
#undef BROOK_NUMBER
#undef BROOK_NUMBERS

#define BROOK_MEMBER(scalar, width, model, path) \
    {scalar, width, static_cast<unsigned int>(reinterpret_cast<const char*>(&model.path) - reinterpret_cast<const char*>(&model))}

/* Arrays of these belong to the library; there is one for each device. */
class Device {
public:
    explicit Device(unsigned int number = 0) : number_(number) {}
    const char* getType() const { return brook_device_is_cpu(number_) ? "cpu" : "cal"; }
    /* Graphics interfaces to share memory with: none. */
    const char* getBindings() const { return ""; }
    unsigned int number() const { return number_; }
    void setNumber(unsigned int number) { number_ = number; }

private:
    unsigned int number_;
};

enum { MaxDevices = 64, MaxRank = 4 };

inline Device* allDevices()
{
    static Device devices[MaxDevices];
    /* Every thread writes the same. */
    for (unsigned int i = 0; i < MaxDevices; ++i) {
        if (devices[i].number() != i) {
            devices[i].setNumber(i);
        }
    }
    return devices;
}

/* Devices of a type: "cal", "cpu", "all". */
inline Device* getDevices(const char* type, unsigned int* count)
{
    unsigned int there = 0;
    unsigned int first = brook_devices(type, &there);
    if (count) {
        *count = there;
    }
    return there ? allDevices() + first : 0;
}

/* Makes a device that of the calling thread, and gives the one before. */
inline Device* useDevices(Device* devices, unsigned int count, unsigned int* oldCount = 0)
{
    if (!devices || count != 1) {
        return 0;
    }
    if (oldCount) {
        *oldCount = 1;
    }
    return allDevices() + brook_use_device(devices->number());
}

typedef brook_memory_handler MemoryHandler;
inline void setMemoryHandler(MemoryHandler handler) { brook_set_memory_handler(handler); }
inline void setMemoryHandle(MemoryHandler handler) { brook_set_memory_handler(handler); }

template<class T> class Stream {
public:
    /* Extents, x first: {width, height, depth}. */
    Stream(unsigned short rank, unsigned int* dims) : impl_(make(rank, dims)) {}
    Stream(unsigned short rank, const unsigned int* dims) : impl_(make(rank, dims)) {}
    /* Memory of a graphics interface: not here; the stream has the error. */
    Stream(unsigned short rank, unsigned int* dims, const char* type) : impl_(make(rank, dims))
    {
        brook_stream_property(impl_, type ? type : "", 0);
    }
    /* Takes over the reference. */
    explicit Stream(StreamImpl* impl) : impl_(impl) {}
    Stream(const Stream& other) : impl_(other.impl_) { brook_stream_retain(impl_); }
    ~Stream() { brook_stream_release(impl_); }
    Stream& operator=(const Stream& other)
    {
        brook_stream_retain(other.impl_);
        brook_stream_release(impl_);
        impl_ = other.impl_;
        return *this;
    }

    void read(const void* ptr, const char* flags = 0) { brook_stream_read(impl_, ptr, flags); }
    void write(void* ptr, const char* flags = 0) const { brook_stream_write(impl_, ptr, flags); }
    void assign(Stream<T> src) { brook_stream_assign(impl_, src.impl_); }

    Stream<T> domain(unsigned int* start, unsigned int* end) const { return corners(start, end); }
    Stream<T> domain(const int* start, const int* end) const
    {
        unsigned int from[4] = {0, 0, 0, 0}, to[4] = {0, 0, 0, 0};
        for (unsigned int i = 0; i < brook_stream_rank(impl_); ++i) {
            from[i] = static_cast<unsigned int>(start[i]);
            to[i] = static_cast<unsigned int>(end[i]);
        }
        return corners(from, to);
    }
    Stream<T> domain(int start, int end) const { return domain(&start, &end); }
    template<int N> Stream<T> domain(const Vec<int, N>& start, const Vec<int, N>& end) const
    {
        return N == static_cast<int>(brook_stream_rank(impl_)) ? domain(&start.x, &end.x) : corners(0, 0);
    }
    template<int N> Stream<T> domain(const Vec<unsigned int, N>& start, const Vec<unsigned int, N>& end) const
    {
        return N == static_cast<int>(brook_stream_rank(impl_)) ? corners(&start.x, &end.x) : corners(0, 0);
    }
    /* Of a stream of one dimension: only the first elements run. */
    Stream<T> execDomain(int count) const
    {
        return Stream<T>(brook_stream_exec_domain(impl_, count < 0 ? 0u : static_cast<unsigned int>(count)));
    }

    void setProperty(const char* name, void* value) { brook_stream_property(impl_, name, value); }
    Device* getDevices(unsigned int* count)
    {
        if (count) {
            *count = 1;
        }
        return allDevices() + brook_stream_device(impl_);
    }
    bool isSync() { return brook_stream_is_sync(impl_) != 0; }
    void finish() { brook_stream_finish(impl_); }
    /* The first error since the last call; waits for outstanding work if there is none. */
    BRerror error() { return static_cast<BRerror>(brook_stream_error(impl_)); }
    /* The texts of the errors since the last call; valid up to the next one. */
    const char* errorLog() { return brook_stream_error_log(impl_); }
    operator StreamImpl*() const { return impl_; }

private:
    static StreamImpl* make(unsigned short rank, const unsigned int* dims)
    {
        const StreamType* type = getStreamType(static_cast<const T*>(0));
        return brook_stream_new(rank, dims, type->members, type->count, type->size);
    }
    Stream<T> corners(const unsigned int* start, const unsigned int* end) const
    {
        return Stream<T>(brook_stream_domain(impl_, start, end));
    }

    StreamImpl* impl_;
};

} // namespace brook

template<class T> void streamRead(const ::brook::Stream<T>& stream, const void* ptr)
{
    brook_stream_read(stream, ptr, 0);
}
template<class T> void streamWrite(const ::brook::Stream<T>& stream, void* ptr)
{
    brook_stream_write(stream, ptr, 0);
}

#endif
