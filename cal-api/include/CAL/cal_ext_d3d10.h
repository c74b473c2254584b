/*
 * cal_ext_d3d10.h - Direct3D 10 interoperation (extension CAL_EXT_D3D10). Windows only: elsewhere the header
 * declares nothing and the runtime answers that the extension is not supported.
 */
#ifndef __CAL_EXT_D3D10_H__
#define __CAL_EXT_D3D10_H__

#include "cal.h"

#ifdef _WIN32

#include <windows.h>
#include <d3d10.h>

#ifndef CALAPIENTRYP
#define CALAPIENTRYP CALAPIENTRY *
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Ties a CAL device to a Direct3D device. */
typedef CALresult (CALAPIENTRYP PFNCALD3D10ASSOCIATEFUNC)(CALdevice dev, ID3D10Device* d3dDevice);

/* Makes a resource on a Direct3D resource. */
typedef CALresult (CALAPIENTRYP PFNCALD3D10MAPRESOURCEFUNC)(CALresource* res, CALdevice dev,
                                                            ID3D10Resource* d3dRes, HANDLE shareHandle);

#ifdef __cplusplus
}
#endif

#endif /* _WIN32 */

#endif /* __CAL_EXT_D3D10_H__ */
