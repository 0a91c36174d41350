// Which symbols libbaton offers to others.
#pragma once

#define BATON_API __attribute__((visibility("default")))
