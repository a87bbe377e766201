/* greet.h - the shared library of a small project that is built with nanoscope cc in several ways.
 */
#ifndef GREET_H
#define GREET_H
#ifdef __cplusplus
extern "C" {
#endif
int greet_add(int a, int b);
typedef int plug_function(int value);
#ifdef __cplusplus
}
#endif
#endif
