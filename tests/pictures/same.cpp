// same_pictures A B: do two PNG files hold the same pixels? Files may differ where another version of the
// library compressed them. Status 0 yes, 1 no, 2 one cannot be read.
#include <cstdio>
#include <cstring>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#define STB_IMAGE_IMPLEMENTATION
#if __has_include(<stb/stb_image.h>)
#include <stb/stb_image.h>
#else
#include <stb_image.h>
#endif
#pragma GCC diagnostic pop

int main(int count, char** name) {
  if (count != 3) return std::fputs("usage: same_pictures A.png B.png\n", stderr), 2;
  int width[2], height[2], channels;
  unsigned char* pixels[2];
  for (int i = 0; i < 2; i++) {
    pixels[i] = stbi_load(name[i + 1], &width[i], &height[i], &channels, 3);
    if (!pixels[i]) return std::fprintf(stderr, "%s: cannot be read as a picture\n", name[i + 1]), 2;
  }
  const bool same = width[0] == width[1] && height[0] == height[1] &&
                    std::memcmp(pixels[0], pixels[1], size_t(width[0]) * size_t(height[0]) * 3) == 0;
  return same ? 0 : 1;
}
