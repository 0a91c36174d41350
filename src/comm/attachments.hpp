// What libraries above keep with a domain.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include <baton/domain.hpp>

namespace baton::comm {

/// A few entries that are added once and looked up all the time, by any thread.
class Attachments {
 public:
  Attachments() = default;
  Attachments(const Attachments&) = delete;
  Attachments& operator=(const Attachments&) = delete;
  ~Attachments();

  [[nodiscard]] Attachment* find(const void* key) const noexcept {
    // Pairs with the store in add().
    for (const Entry* entry = first_.load(std::memory_order_acquire); entry != nullptr; entry = entry->next) {
      if (entry->key == key) return entry->attachment.get();
    }
    return nullptr;
  }

  /// Held while an attachment is made, which may take a collective call: a second maker fails with in_flight instead
  /// of waiting, because it may be a fiber of the same thread.
  class Making {
   public:
    Making(Attachments& attachments, std::string_view domain);
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;
    ~Making();

   private:
    Attachments& attachments_;
  };

  /// By the holder of a Making.
  Attachment& add(const void* key, std::unique_ptr<Attachment> attachment);

 private:
  struct Entry {
    const void* key;
    std::unique_ptr<Attachment> attachment;
    Entry* next;
  };
  std::atomic<Entry*> first_{nullptr};
  std::atomic<bool> making_{false};
};

}  // namespace baton::comm
