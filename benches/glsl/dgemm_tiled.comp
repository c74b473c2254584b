#version 450
#extension GL_GOOGLE_include_directive : require
#define V dvec2
#define PER 2
#define ROWS 4
#define COLUMNS 4
#define LANES_X 8
#define LANES_Y 4
#define WARPS_X 2
#define WARPS_Y 4
#include "tiled.glsl"
