/*
 * Brook+: streams, kernels, devices. What brcc writes includes this file.
 */
#ifndef BROOK_BROOK_H
#define BROOK_BROOK_H

#include "brook/types.h"
#include "brook/Stream.h"
#include "brook/KernelDesc.h"
#include "brook/KernelInterface.h"
#include "brook/CPU/kernel.h"

#endif
