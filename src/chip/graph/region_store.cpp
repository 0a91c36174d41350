#include "chip/graph/region_store.hpp"

#include <algorithm>

#include "chip/graph/overlap.hpp"

namespace baton::graph {
namespace {

constexpr std::uint32_t kBackMask = 0x7fffffff;  // what Link::back holds

}  // namespace

RegionStore::~RegionStore() {
  for (std::uint32_t number = 0; number < slots_; ++number) {
    drop_reader_memory((*this)[number]);
    delete[](*this)[number].links;
  }
}

std::uint32_t RegionStore::create(const View& view) {
  if (free_.empty()) {
    if (slots_ % kChunk == 0) chunks_.push_back(std::make_unique<Region[]>(kChunk));
    free_.push_back(slots_++);
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  Region& region = (*this)[number];
  region.view = view;
  region.readers = region.inline_readers.data();
  region.forget_history();
  region.idle = 0;
  return number;
}

void RegionStore::destroy(std::uint32_t number) {
  Region& region = (*this)[number];
  drop_reader_memory(region);
  delete[] region.links;
  region.links = nullptr;
  region.view.run = 0;
  region.forget_history();
  free_.push_back(number);
}

void RegionStore::grow_readers(Region& region) {
  auto* larger = new TaskId[std::size_t{2} * region.reader_capacity];
  std::copy_n(region.readers, region.reader_count, larger);
  const std::uint32_t capacity = 2 * region.reader_capacity;
  drop_reader_memory(region);
  region.readers = larger;
  region.reader_capacity = capacity;
}

void RegionStore::drop_reader_memory(Region& region) noexcept {
  if (region.reader_capacity > Region::kInlineReaders) delete[] region.readers;
  region.readers = region.inline_readers.data();
  region.reader_capacity = Region::kInlineReaders;
}

std::uint32_t RegionStore::add_link(Region& region, Link link) {
  const std::uint32_t count = region.link_count;
  if (region.links == nullptr) {
    region.link_room_log2 = kFewestLinksLog2;
    region.links = new Link[std::size_t{1} << kFewestLinksLog2];
  } else if (count >> region.link_room_log2 != 0) {
    auto* larger = new Link[std::size_t{2} << region.link_room_log2];
    std::copy_n(region.links, count, larger);
    delete[] region.links;
    region.links = larger;
    ++region.link_room_log2;
  }
  region.links[count] = link;
  region.link_count = count + 1;
  return count;
}

void RegionStore::link(std::uint32_t a, std::uint32_t b) {
  Region& first = (*this)[a];
  Region& second = (*this)[b];
  const std::uint32_t at = add_link(first, {b, 0, covers(first.view, second.view) ? 1U : 0U});
  const std::uint32_t back = add_link(second, {a, at & kBackMask, covers(second.view, first.view) ? 1U : 0U});
  first.links[at].back = back & kBackMask;
}

void RegionStore::unlink_all(std::uint32_t number) {
  Region& region = (*this)[number];
  for (std::uint32_t i = 0; i < region.link_count; ++i) {
    Region& other = (*this)[region.links[i].region];
    const std::uint32_t hole = region.links[i].back;
    const Link moved = other.links[--other.link_count];
    if (hole == other.link_count) continue;
    other.links[hole] = moved;
    (*this)[moved.region].links[moved.back].back = hole & kBackMask;
  }
  region.link_count = 0;
}

}  // namespace baton::graph
