#include "comm/attachments.hpp"

#include "base/fail.hpp"

namespace baton::comm {

Attachments::~Attachments() {
  for (Entry* entry = first_.load(std::memory_order_relaxed); entry != nullptr;) {
    const std::unique_ptr<Entry> ended(entry);
    entry = ended->next;
  }
}

Attachment& Attachments::add(const void* key, std::unique_ptr<Attachment> attachment) {
  auto entry = std::make_unique<Entry>(Entry{key, std::move(attachment), first_.load(std::memory_order_relaxed)});
  // Pairs with the load in find().
  first_.store(entry.get(), std::memory_order_release);
  return *entry.release()->attachment;
}

Attachments::Making::Making(Attachments& attachments, std::string_view domain) : attachments_(attachments) {
  // Pairs with the store in the destructor: the next maker sees what this one added.
  if (attachments_.making_.exchange(true, std::memory_order_acquire)) {
    fail(Code::in_flight, "two threads of this rank make their first collective call on \"{}\" at once", domain);
  }
}

Attachments::Making::~Making() {
  // Pairs with the exchange in the constructor.
  attachments_.making_.store(false, std::memory_order_release);
}

}  // namespace baton::comm
