// Orchestrations in libraries that are compiled at run time.
//
//   #include <baton/orchestration.hpp>
//   #include <baton_kernel.hpp>
//
//   BATON_KERNEL(scale, In<float> x, Out<float> y, float factor) { ... }
//
//   BATON_ORCHESTRATION(scale_all, graph, args) {
//     for (...) graph.submit(scale, args.tensor(0).slice(...), args.tensor(1).slice(...), args.scalar<float>(0));
//   }
#pragma once

#include <baton/chip_args.hpp>
#include <baton/graph.hpp>

/// Defines an orchestration for a chip under a name: a function of a graph and the arguments that it is submitted with.
/// `graph` and `args` are the names of its parameters. KernelFile::orchestration() finds it in its library.
#define BATON_ORCHESTRATION(name, graph, args)                                                                      \
  extern "C" __attribute__((visibility("default"))) void baton_orchestration_##name(::baton::Graph& graph,          \
                                                                                    const ::baton::ChipArgs& args); \
  extern "C" void baton_orchestration_##name([[maybe_unused]] ::baton::Graph& graph,                                \
                                             [[maybe_unused]] const ::baton::ChipArgs& args)
