// Couriers: what is written to a ring at one end appears at the other, however much it is, and no ring overflows.
#include "node/courier.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include <baton/error.hpp>

#include "comm/memfd.hpp"
#include "node/chips.hpp"
#include "node/message.hpp"

namespace baton::node {
namespace {

/// Keeps what is posted until deliver().
class Wire final : public comm::Path {
 public:
  void put(const comm::FarPlace&, const void*, std::size_t, const comm::FarSignal&, const Deadline&) override {}
  void add(const comm::FarPlace&, Element, const void*, std::size_t, const Deadline&) override {}
  void scatter(const comm::FarPlace&, const comm::FarPieces&, const Deadline&) override {}
  void get(const comm::FarPlace&, void*, std::size_t, const Deadline&) override {}
  [[nodiscard]] std::unique_ptr<Transfer> start_put(const comm::FarPlace&, const void*, std::size_t,
                                                    const comm::FarSignal&, const Deadline&) override {
    return nullptr;
  }
  [[nodiscard]] std::unique_ptr<Transfer> start_get(const comm::FarPlace&, void*, std::size_t,
                                                    const Deadline&) override {
    return nullptr;
  }
  void finish(Transfer&) override {}
  void post(std::uint32_t, wire::AllocationKey topic, std::span<const std::byte> bytes) override {
    EXPECT_EQ(topic, kFarTopic);
    posts.emplace_back(bytes.begin(), bytes.end());
  }
  [[nodiscard]] bool flush(comm::Flushed, const Deadline&) override { return true; }
  void progress() noexcept override {}
  void begin_looking() noexcept override {}
  void end_looking() noexcept override {}
  [[nodiscard]] std::uint32_t host_of(std::uint32_t rank) const noexcept override { return rank; }
  [[nodiscard]] comm::Delivery& delivery() noexcept override { std::abort(); }

  void deliver(Courier& to) {
    for (const auto& post : std::exchange(posts, {})) {
      const auto message = far_message(post);
      ASSERT_TRUE(message);
      to.take(*message);
    }
  }
  std::vector<std::vector<std::byte>> posts;
};

struct End {
  explicit End(Courier::Side side, Wire& out)
      : memory(comm::map_memfd(comm::create_memfd("test", bytes()), bytes())),
        header(*static_cast<wire::NodeHeader*>(memory->address())) {
    write_node_header(memory->address(), 1);
    views = views_of(header, 0);
    courier = std::make_unique<Courier>(out, 0, wire::mailbox_of(header, 0), views, side);
  }
  static std::uint64_t bytes() { return wire::node_segment_bytes(1, mailbox_sizes()); }
  std::shared_ptr<comm::SharedMemory> memory;
  wire::NodeHeader& header;
  MailboxViews views;
  std::unique_ptr<Courier> courier;
};

struct Couriers : testing::Test {
  Wire to_chip;
  Wire to_node;
  End node{Courier::Side::node, to_chip};
  End chip{Courier::Side::chip, to_node};
  void carry() {
    node.courier->carry();
    to_chip.deliver(*chip.courier);
    chip.courier->carry();
    to_node.deliver(*node.courier);
  }
};

std::vector<std::byte> record_of(std::size_t bytes) {
  MessageWriter writer;
  writer.begin(MessageKind::run);
  for (std::size_t i = 8; i < bytes; ++i) writer.put(static_cast<std::uint8_t>(i % 251));
  const auto record = writer.finish();
  return {record.begin(), record.end()};
}

TEST_F(Couriers, CarryRecordsThatAreLongerThanARing) {
  const std::vector<std::byte> record = record_of(3 * mailbox_sizes().tasks + 40);
  StreamWriter writer(node.views.tasks);
  StreamReader reader(chip.views.tasks);
  std::span<const std::byte> rest = record;
  std::optional<std::span<const std::byte>> read;
  for (int turn = 0; turn < 100 && !read; ++turn) {
    rest = rest.subspan(writer.write(rest).bytes);
    carry();
    read = reader.next();
  }
  ASSERT_TRUE(read);
  EXPECT_TRUE(std::equal(read->begin(), read->end(), record.begin(), record.end()));
}

TEST_F(Couriers, AWriterHasNoRoomUntilTheOtherEndHasRead) {
  StreamWriter writer(node.views.control);
  StreamReader reader(chip.views.control);
  const std::vector<std::byte> record = record_of(1024);
  std::size_t written = 0;
  while (writer.room() >= record.size()) {
    static_cast<void>(writer.write(record));
    ++written;
    carry();
  }
  EXPECT_EQ(written, mailbox_sizes().control / 1024);
  ASSERT_TRUE(reader.next());
  reader.release();
  EXPECT_EQ(writer.room(), 0);
  carry();
  EXPECT_EQ(writer.room(), 1024);
}

TEST_F(Couriers, CompletionsComeWithTheReportsBeforeThem) {
  StreamWriter reports(chip.views.reports);
  static_cast<void>(reports.write(record_of(64)));
  wire::ChipMailbox& box = wire::mailbox_of(chip.header, 0);
  box.completed.store(7);
  box.phase.store(static_cast<std::uint32_t>(wire::ChipPhase::ready));
  chip.courier->carry();
  ASSERT_EQ(to_node.posts.size(), 1);
  to_node.deliver(*node.courier);
  EXPECT_TRUE(StreamReader(node.views.reports).readable());
  EXPECT_EQ(wire::mailbox_of(node.header, 0).completed.load(), 7);
  EXPECT_EQ(wire::mailbox_of(node.header, 0).phase.load(), static_cast<std::uint32_t>(wire::ChipPhase::ready));
  chip.courier->carry();
  EXPECT_TRUE(to_node.posts.empty()) << "nothing is new";
}

TEST_F(Couriers, RefuseWhatDoesNotFit) {
  FarHead head{};
  head.kind = FarKind::rings;
  head.a = 16;
  const std::vector<std::byte> payload(8);
  EXPECT_THROW(chip.courier->take({head, payload}), Error);
  head.a = mailbox_sizes().tasks + 8;
  const std::vector<std::byte> too_much(head.a);
  EXPECT_THROW(chip.courier->take({head, too_much}), Error);
  EXPECT_FALSE(far_message(payload));
}

}  // namespace
}  // namespace baton::node
