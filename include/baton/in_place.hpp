// Who runs a task: another thread, or the one that submits it.
#pragma once

namespace baton {

/// Which tasks the thread of an orchestration runs itself, instead of handing them to another.
enum class InPlace {
  automatic,  // those that are shorter than their way to another thread
  never,
  always,  // all that run on one vector core, as long as nothing else is in flight: one after the other, in their order
};

}  // namespace baton
