// Which ranks run on which hosts.
#include "job/host_list.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "job/hosts/agent_process.hpp"

namespace baton::job {
namespace {

std::string shares(std::string_view hosts, std::optional<int> ranks) {
  std::string text;
  try {
    for (const HostShare& share : share_ranks(parse_hosts(hosts), ranks)) {
      text += fmt::format("{}{}={}+{}", text.empty() ? "" : " ", share.name, share.first_rank, share.count);
    }
  } catch (const Error& error) {
    return error.message();
  }
  return text;
}

TEST(HostList, WithoutNumbersHostsShareEvenly) {
  EXPECT_EQ(shares("a,b", 64), "a=0+32 b=32+32");
  EXPECT_EQ(shares("a,b,c", 5), "a=0+2 b=2+2 c=4+1");
  EXPECT_EQ(shares("a,b", std::nullopt), "a=0+1 b=1+1");
  EXPECT_EQ(shares("a,b,c", 2), "2 ranks cannot be shared by 3 hosts");
}

TEST(HostList, WithNumbersTheyAreFilledInOrder) {
  EXPECT_EQ(shares("a:4,b:8", std::nullopt), "a=0+4 b=4+8");
  EXPECT_EQ(shares("a:4,b:8", 6), "a=0+4 b=4+2");
  EXPECT_EQ(shares("a:4,b:8", 3), "a=0+3");
  EXPECT_EQ(shares("a:4,b:8", 13), "13 ranks do not fit: the hosts take 12");
  EXPECT_EQ(shares("a:4,b", 5), "host \"b\" has no number of ranks, others have one");
}

TEST(HostList, WhatIsNoHostIsSaid) {
  for (const char* text : {"", "a,,b", "a:", "a:0", "a:-1", "a:4x", "-oProxyCommand=x", "a b", "a;b", "a$(b)", "a,b,",
                           "fd00::1", "[fd00::1", "[fd00::1]4", "[fd00::1]:", "[a]", "[]", "[fd00::1]:0", "a]"}) {
    EXPECT_NE(shares(text, std::nullopt).find("is not a host"), std::string::npos) << text;
  }
  EXPECT_EQ(shares("a,b,a", std::nullopt), "host \"a\" is named twice; a:N gives it N ranks");
  EXPECT_EQ(shares("me@node-1.example", std::nullopt), "me@node-1.example=0+1");
}

TEST(HostList, AnAddressOfIpv6IsInBrackets) {
  EXPECT_EQ(shares("[fd00::1],[::ffff:10.0.0.1]", 4), "fd00::1=0+2 ::ffff:10.0.0.1=2+2");
  EXPECT_EQ(shares("[fd00::1]:3,b:1", std::nullopt), "fd00::1=0+3 b=3+1");
}

TEST(HostList, AFileHasOneToALine) {
  const std::string path = testing::TempDir() + "hostfile";
  std::ofstream(path) << "# all of them\na slots=2\n  b:3 # with a remark\n\nc\tslots=1\r\n";
  const auto hosts = read_hostfile(path);
  ASSERT_EQ(hosts.size(), 3U);
  EXPECT_EQ(hosts[0].slots, 2);
  EXPECT_EQ(hosts[1].name, "b");
  EXPECT_EQ(hosts[2].slots, 1);
  std::ofstream(path) << "a\nb slots 3\n";
  try {
    static_cast<void>(read_hostfile(path));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("hostfile:2: \"b slots 3\" is not a host"), std::string::npos) << error.message();
  }
  EXPECT_THROW(static_cast<void>(read_hostfile("/nowhere/at/all")), Error);
  std::remove(path.c_str());
}

TEST(AgentProcess, TheHostComesWhereTheCommandSays) {
  EXPECT_EQ(shell_command({"a", "ssh -x {host}", "/opt/baton"}), "exec ssh -x a /opt/baton agent");
  EXPECT_EQ(shell_command({"a", "on", "/opt/it's/baton"}), "exec on a '/opt/it'\\''s/baton' agent");
  EXPECT_EQ(shell_command({"a", "on {host} as {host}", "b"}), "exec on a as a b agent");
}

}  // namespace
}  // namespace baton::job
