/*
 * How the objects that brcc writes call the runtime: arguments are pushed in order, then the kernel runs.
 */
#ifndef BROOK_KERNELINTERFACE_H
#define BROOK_KERNELINTERFACE_H

#include "brook/KernelDesc.h"
#include "brook/Stream.h"

#ifndef BROOK_THREAD_LOCAL
#ifdef _MSC_VER
#define BROOK_THREAD_LOCAL __declspec(thread)
#else
#define BROOK_THREAD_LOCAL __thread
#endif
#endif

namespace brook {

/* A corner or extent of the positions that run; forgotten after one call. */
struct DomainSetting {
    unsigned int value[4];
    bool set;
};

inline void setDomain(DomainSetting& setting, const Vec<unsigned int, 4>& value)
{
    setting.value[0] = value.x;
    setting.value[1] = value.y;
    setting.value[2] = value.z;
    setting.value[3] = value.w;
    setting.set = true;
}

/* A kernel's implementations. */
struct KernelTable {
    const char* name;
    const KernelDesc* cal;
    brook_cpu_kernel cpu;
    int reduce;
    unsigned int group;
    unsigned int shared;
};

class KernelCall {
public:
    KernelCall(const KernelTable& table, DomainSetting& offset, DomainSetting& size)
        : table_(table), offset_(offset), size_(size), result_(0), resultBytes_(0), resultStream_(0)
    {
        arguments_.reserve(16);
    }
    template<class T> void PushStream(const Stream<T>& s) { push(BROOK_STREAM, s); }
    template<class T> void PushGatherStream(const Stream<T>& s) { push(BROOK_GATHER, s); }
    template<class T> void PushOutput(const Stream<T>& s) { push(BROOK_OUTPUT, s); }
    template<class T> void PushScatterStream(const Stream<T>& s) { push(BROOK_SCATTER, s); }
    template<class T> void PushReduceStream(const Stream<T>& s) { push(BROOK_REDUCE, s); }
    template<class T> void PushConstant(const T& value) { constant(BROOK_CONSTANT, &value, 1); }
    template<class T> void PushConstantBuffer(const T* values, unsigned int count)
    {
        constant(BROOK_CONSTANT_BUFFER, values, count);
    }
    /* A stream of one element, whose value is written back after the run. */
    template<class T> void PushReduce(T* value)
    {
        static const unsigned int one[] = {1, 1, 1, 1};
        const StreamType* type = getStreamType(static_cast<const T*>(0));
        result_ = value;
        resultBytes_ = sizeof(T);
        resultStream_ = brook_stream_new(1, one, type->members, type->count, type->size);
        push(BROOK_REDUCE, resultStream_);
    }
    void run()
    {
        brook_call call;
        call.name = table_.name;
        call.cal = table_.cal ? table_.cal->kernel() : 0;
        call.cpu = table_.cpu;
        call.reduce = table_.reduce;
        call.group = table_.group;
        call.shared = table_.shared;
        call.arguments = arguments_.empty() ? 0 : &arguments_[0];
        call.count = static_cast<unsigned int>(arguments_.size());
        call.offset = offset_.set ? offset_.value : 0;
        call.size = size_.set ? size_.value : 0;
        int ran = brook_run(&call);
        offset_.set = false;
        size_.set = false;
        if (resultStream_) {
            /* What could not run leaves the variable as it was. */
            if (ran) brook_stream_write(resultStream_, result_, 0);
            brook_stream_release(resultStream_);
            resultStream_ = 0;
        }
    }

private:
    void push(int kind, StreamImpl* stream)
    {
        brook_argument argument = {kind, stream, 0, 0, 0, 0};
        arguments_.push_back(argument);
    }
    template<class T> void constant(int kind, const T* values, unsigned int count)
    {
        brook_argument argument = {kind, 0, values, ScalarType<T>::value, ScalarType<T>::width, count};
        arguments_.push_back(argument);
    }
    KernelCall(const KernelCall&);
    KernelCall& operator=(const KernelCall&);

    const KernelTable& table_;
    DomainSetting& offset_;
    DomainSetting& size_;
    std::vector<brook_argument> arguments_;
    void* result_;
    size_t resultBytes_;
    StreamImpl* resultStream_;
};

} // namespace brook

#endif
