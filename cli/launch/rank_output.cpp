#include "cli/launch/rank_output.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <tutti/error.hpp>

#include "core/columns.hpp"

namespace tutti::cli {
namespace {

/// True if both are the same file. One thread must then write both, or lines would mix.
bool same_file(int one, int other) {
  struct stat a {};
  struct stat b {};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

bool takes_colour(int fd) {
  const char* const off = std::getenv("NO_COLOR");
  return ::isatty(fd) == 1 && (off == nullptr || *off == '\0');
}

std::string prefix_of(std::uint32_t rank, std::uint32_t ranks, int to) {
  const std::size_t width = std::to_string(ranks - 1).size();
  const std::string text = "[" + pad_left(std::to_string(rank), width) + "]";
  if (!takes_colour(to)) return text + " ";
  constexpr std::array<const char*, 6> colours{"36", "33", "32", "35", "34", "31"};
  return "\033[" + std::string(colours[rank % colours.size()]) + "m" + text + "\033[0m ";
}

[[noreturn]] void reject(const std::string& what, int error) {
  throw Error(ErrorCode::invalid_argument, what + ": " + std::generic_category().message(error));
}

void set_nonblocking(const FileDescriptor& fd) {
  ::fcntl(fd.number(), F_SETFL, ::fcntl(fd.number(), F_GETFL) | O_NONBLOCK);
}

FileDescriptor duplicate(int fd) {
  FileDescriptor copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy) reject("cannot pass the output of this process to a rank", errno);
  return copy;
}

}  // namespace

RankOutput::RankOutput(const Job& job) : job_(job) {
  if (!same_file(STDOUT_FILENO, STDERR_FILENO)) err_ = std::make_unique<LineForwarder>();
  if (job.output.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(job.output, error);
  if (error) reject("cannot create the directory '" + job.output + "'", error.value());
}

LineForwarder& RankOutput::forwarder(int to) {
  return to == STDERR_FILENO && err_ != nullptr ? *err_ : out_;
}

RankOutput::Ends RankOutput::add(std::uint32_t rank) {
  if (job_.direct) return {.out = duplicate(STDOUT_FILENO), .err = duplicate(STDERR_FILENO)};
  return {.out = add(source(rank, STDOUT_FILENO)), .err = add(source(rank, STDERR_FILENO))};
}

LineForwarder::Source RankOutput::source(std::uint32_t rank, int to) const {
  LineForwarder::Source source{.to = to};
  if (job_.prefix) source.prefix = prefix_of(rank, job_.ranks, to);
  if (job_.output.empty()) return source;
  const char* const kind = to == STDOUT_FILENO ? ".out" : ".err";
  source.copy_name = std::filesystem::path(job_.output) / ("rank-" + std::to_string(rank) + kind);
  source.copy = FileDescriptor(
      ::open(source.copy_name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!source.copy) reject("cannot write to '" + source.copy_name + "'", errno);
  return source;
}

FileDescriptor RankOutput::add(LineForwarder::Source source) {
  Pipe pipe;
  if (!pipe) reject("cannot open a pipe for the output of a rank", errno);
  source.from = std::move(pipe.read);
  set_nonblocking(source.from);
  LineForwarder& way = forwarder(source.to);
  way.add(std::move(source));
  return std::move(pipe.write);
}

void RankOutput::start() {
  // Added last, so that the last output of a rank comes before the message about its end.
  voice_ = add(LineForwarder::Source{.to = STDERR_FILENO});
  set_nonblocking(voice_);
  out_.start();
  if (err_ != nullptr) err_->start();
}

void RankOutput::say(const std::string& line) {
  const std::string text = line + "\n";
  [[maybe_unused]] const ssize_t written = ::write(voice_.number(), text.data(), text.size());
}

void RankOutput::finish() {
  voice_.close();
  out_.finish();
  if (err_ != nullptr) err_->finish();
}

bool RankOutput::done() const { return out_.done() && (err_ == nullptr || err_->done()); }

std::array<int, 2> RankOutput::news() const {
  return {out_.news(), err_ != nullptr ? err_->news() : -1};
}

void RankOutput::heard() const {
  out_.heard();
  if (err_ != nullptr) err_->heard();
}

int RankOutput::error() const {
  if (out_.error() != 0 || err_ == nullptr) return out_.error();
  return err_->error();
}

bool RankOutput::has_lost_copy() const {
  return out_.has_lost_copy() || (err_ != nullptr && err_->has_lost_copy());
}

}  // namespace tutti::cli
