/*
 * cal_ext_d3d9.h - Direct3D 9 interoperation (extension CAL_EXT_D3D9). Windows only: elsewhere the header declares
 * nothing and the runtime answers that the extension is not supported.
 */
#ifndef __CAL_EXT_D3D9_H__
#define __CAL_EXT_D3D9_H__

#include "cal.h"

#ifdef _WIN32

#include <windows.h>
#include <d3d9.h>

#ifndef CALAPIENTRYP
#define CALAPIENTRYP CALAPIENTRY *
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Ties a CAL device to a Direct3D device. */
typedef CALresult (CALAPIENTRYP PFNCALD3D9ASSOCIATE)(CALdevice device, IDirect3DDevice9* d3dDevice);

/* Makes a texture that shows a resource. */
typedef CALresult (CALAPIENTRYP PFNCALD3D9MAPTEXTUREFUNC)(IDirect3DTexture9** d3dTex, IDirect3DDevice9* d3dDevice,
                                                          CALresource res);

/* Makes a resource on a surface. */
typedef CALresult (CALAPIENTRYP PFNCALD3D9MAPSURFACEFUNC)(CALresource* res, CALdevice dev, IDirect3DSurface9* tex,
                                                          HANDLE shareHandle);

/* Ends the use of a texture. */
typedef CALresult (CALAPIENTRYP PFNCALD3D9UNMAPTEXTUREFUNC)(IDirect3DTexture9* d3dTex);

/* Makes a resource on a vertex buffer. */
typedef CALresult (CALAPIENTRYP PFNCALD3D9MAPVERTEXBUFFERFUNC)(CALresource* res, CALdevice dev,
                                                               IDirect3DVertexBuffer9* d3dVB, HANDLE shareHandle);

/* Makes a resource on an index buffer. */
typedef CALresult (CALAPIENTRYP PFNCALD3D9MAPINDEXBUFFERFUNC)(CALresource* res, CALdevice dev,
                                                              IDirect3DIndexBuffer9* d3dIB, HANDLE shareHandle);

#ifdef __cplusplus
}
#endif

#endif /* _WIN32 */

#endif /* __CAL_EXT_D3D9_H__ */
