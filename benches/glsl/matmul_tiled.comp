#version 450
#extension GL_GOOGLE_include_directive : require
#define V vec4
#define PER 4
#define ROWS 2
#define COLUMNS 2
#define LANES_X 4
#define LANES_Y 8
#define WARPS_X 4
#define WARPS_Y 1
#include "tiled.glsl"
