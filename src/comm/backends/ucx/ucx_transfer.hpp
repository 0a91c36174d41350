// Puts and gets that go on by themselves: a request of UCX, and until when it is waited for.
#pragma once

#include <memory>
#include <optional>

#include "base/transfer.hpp"
#include "comm/backends/ucx/ucx_path.hpp"

namespace baton::ucx {

class UcxPath::Message : public Transfer {
 public:
  /// `what` is how errors call it.
  Message(UcxPath& path, const wire::PathHeader& header, std::uint32_t rank, const char* what, std::uint64_t bytes,
          const Deadline& deadline);
  ~Message() override { take_back(); }

  [[nodiscard]] bool is_over() noexcept final;
  [[nodiscard]] Deadline::Clock::time_point latest() const noexcept final;

 protected:
  /// Sends now, or once the peer has answered what is said to it first.
  void start();
  [[nodiscard]] Sending& sending() noexcept { return *sending_; }
  [[nodiscard]] bool is_sent() const noexcept;
  /// Whether all that was wanted has been done.
  [[nodiscard]] virtual bool is_done() const noexcept { return is_sent(); }
  /// Throws why it is over without being done; returns if the rank has left.
  void settle();
  /// UCX does not touch the memory any more when it returns.
  void take_back() noexcept;

  UcxPath& path_;
  const std::uint32_t rank_;

 private:
  [[nodiscard]] bool is_hopeless() const noexcept;

  const char* what_;
  std::uint64_t bytes_;
  Deadline deadline_;
  std::unique_ptr<Sending> sending_;
  bool is_started_ = false;
  std::optional<Deadline> news_{};  // the path broke: until when somebody may tell why
};

class UcxPath::Put final : public Message {
 public:
  Put(UcxPath& path, const comm::FarPlace& to, const void* source, std::size_t bytes, const comm::FarSignal& signal,
      const Deadline& deadline);
  void end() override;
};

class UcxPath::Get final : public Message {
 public:
  Get(UcxPath& path, const comm::FarPlace& from, void* target, std::size_t bytes, const Deadline& deadline);
  ~Get() override { take_reply_back(); }
  void end() override;

 private:
  [[nodiscard]] bool is_done() const noexcept override;
  [[nodiscard]] bool has_reply() const noexcept;
  void take_reply_back() noexcept;

  std::shared_ptr<Getting> getting_ = std::make_shared<Getting>();
};

}  // namespace baton::ucx
