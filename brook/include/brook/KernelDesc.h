/*
 * What brcc tells the runtime about a kernel: techniques, each a whole implementation, of passes, each one program.
 */
#ifndef BROOK_KERNELDESC_H
#define BROOK_KERNELDESC_H

#include <vector>

#include "brook/capi.h"

namespace brook {

enum ConstantUsage {
    CONST_USER_PARAM = 0,
    CONST_STREAMSHAPE = 1,
    CONST_BUFFERSHAPE = 2,
    CONST_REDUCTIONFACTOR = 3,
    CONST_BUFFERPITCH = 4,
    CONST_POSITIONS = 5
};

enum StreamAccess { ACCESS_RANDOM = 0, ACCESS_STREAM = 1 };

class Pass {
public:
    explicit Pass(const char* name) : name_(name), image_(""), compute_(false) {}
    Pass& image(const char* text)
    {
        image_ = text;
        return *this;
    }
    Pass& constant(unsigned int argument, ConstantUsage usage) { return add(0, argument, usage, 0); }
    Pass& constArray(unsigned int argument, unsigned int) { return add(1, argument, 0, 0); }
    Pass& input(unsigned int argument, unsigned int member, StreamAccess access) { return add(2, argument, member, access); }
    Pass& output(unsigned int argument, unsigned int member, StreamAccess access) { return add(3, argument, member, access); }
    Pass& computeShader()
    {
        compute_ = true;
        return *this;
    }
    void describe(brook_kernel* kernel) const
    {
        brook_kernel_pass(kernel, name_, image_, compute_);
        for (size_t i = 0; i < entries_.size(); ++i) {
            const Entry& e = entries_[i];
            brook_kernel_entry(kernel, e.kind, e.argument, e.what, e.access);
        }
    }

private:
    struct Entry {
        int kind;
        unsigned int argument, what;
        int access;
    };
    Pass& add(int kind, unsigned int argument, unsigned int what, int access)
    {
        Entry entry = {kind, argument, what, access};
        entries_.push_back(entry);
        return *this;
    }

    const char* name_;
    const char* image_;
    bool compute_;
    std::vector<Entry> entries_;
};

class Technique {
public:
    Technique() : translation_(false) {}
    Technique& addressTranslation()
    {
        translation_ = true;
        return *this;
    }
    Technique& pass(const Pass& pass)
    {
        passes_.push_back(pass);
        return *this;
    }
    void describe(brook_kernel* kernel) const
    {
        brook_kernel_technique(kernel, translation_);
        for (size_t i = 0; i < passes_.size(); ++i) {
            passes_[i].describe(kernel);
        }
    }

private:
    bool translation_;
    std::vector<Pass> passes_;
};

/* Kept until the process ends, as kernels are. */
class KernelDesc {
public:
    KernelDesc() : kernel_(brook_kernel_new()) {}
    KernelDesc& technique(const Technique& technique)
    {
        technique.describe(kernel_);
        return *this;
    }
    const brook_kernel* kernel() const { return kernel_; }

private:
    brook_kernel* kernel_;
};

} // namespace brook

#endif
