layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly restrict buffer From { uint from[]; };
layout(std430, binding = 1) writeonly restrict buffer Sums { uint sums[]; };
layout(push_constant) uniform Parameters { uint count; };
shared uint part[256];

uint element(uint i) { return i < count ? from[i] : 0; }
