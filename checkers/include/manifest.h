// Puts the file that the build names in MANIFEST into the module, where hosts
// look for it. A native build has no manifest.
#ifndef DEEPOJ_MANIFEST_H
#define DEEPOJ_MANIFEST_H

#ifdef __wasm__
__asm__(".section .custom_section.judge.manifest,\"\",@\n\t.incbin \"" MANIFEST "\"\n");
#endif

#endif
