// What the other source has.
#pragma once
#include <string>

bool alike(const std::string &a, const std::string &b);
