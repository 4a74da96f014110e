// The two locks of the articles in C++, on hiredis: a question a line on stdin, an answer a line on stdout. Told its server's
// port, and which lock: "setnx": a time in seconds, taken over by GETSET when it is past, without a time to live;
// "eval": SET NX PX with a value of one's own, given back by a script that compares it.
#include <hiredis/hiredis.h>

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

const char *const COMPARE_AND_DELETE =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

struct Answer {
  std::string text;
  long long number = 0;
  bool is_nil = true;
};

class Server {
 public:
  explicit Server(int port) : context_(redisConnect("127.0.0.1", port)) {
    if (context_ == nullptr || context_->err) std::exit(1);
  }
  ~Server() { redisFree(context_); }

  Answer run(const std::vector<std::string> &words) {
    std::vector<const char *> texts;
    std::vector<size_t> lengths;
    for (const auto &word : words) {
      texts.push_back(word.data());
      lengths.push_back(word.size());
    }
    auto *reply = static_cast<redisReply *>(
        redisCommandArgv(context_, static_cast<int>(words.size()), texts.data(), lengths.data()));
    if (reply == nullptr || reply->type == REDIS_REPLY_ERROR) std::exit(1);
    Answer answer;
    answer.is_nil = reply->type == REDIS_REPLY_NIL;
    answer.number = reply->integer;
    if (reply->str != nullptr) answer.text.assign(reply->str, reply->len);
    freeReplyObject(reply);
    return answer;
  }

 private:
  redisContext *context_;
};

class Lock {
 public:
  virtual ~Lock() = default;
  virtual bool acquire(const std::string &name, long ttl) = 0;
  virtual bool release(const std::string &name) = 0;
};

class SetnxLock : public Lock {
 public:
  explicit SetnxLock(Server &server) : server_(server) {}

  bool acquire(const std::string &name, long ttl) override {
    const auto key = name + "_lock";
    const auto ends = std::time(nullptr) + (ttl + 999) / 1000 + 1;
    if (server_.run({"SETNX", key, std::to_string(ends)}).number == 0) {
      const auto seen = server_.run({"GET", key});
      if (seen.is_nil || std::atoll(seen.text.c_str()) >= std::time(nullptr)) return false;
      const auto old = server_.run({"GETSET", key, std::to_string(ends)});
      if (old.is_nil || old.text != seen.text) return false;
    }
    ends_[name] = ends;
    return true;
  }

  bool release(const std::string &name) override {
    return std::time(nullptr) < ends_[name] && server_.run({"DEL", name + "_lock"}).number == 1;
  }

 private:
  Server &server_;
  std::map<std::string, long> ends_;
};

class EvalLock : public Lock {
 public:
  explicit EvalLock(Server &server) : server_(server) {}

  bool acquire(const std::string &name, long ttl) override {
    std::random_device random;
    std::string value;
    for (int nth = 0; nth < 40; ++nth) value += "0123456789abcdef"[random() % 16];
    if (server_.run({"SET", name, value, "PX", std::to_string(ttl), "NX"}).is_nil) return false;
    values_[name] = value;
    return true;
  }

  bool release(const std::string &name) override {
    return server_.run({"EVAL", COMPARE_AND_DELETE, "1", name, values_[name]}).number == 1;
  }

 private:
  Server &server_;
  std::map<std::string, std::string> values_;
};

/** What stands behind a name in a line of JSON, of which the tests write no other than this needs. */
std::string field(const std::string &line, const std::string &name) {
  const auto at = line.find('"' + name + "\":");
  if (at == std::string::npos) return "";
  const auto from = line.find_first_not_of('"', at + name.size() + 3);
  return line.substr(from, line.find_first_of("\",}", from) - from);
}

}  // namespace

int main(int, char **words) {
  Server server(std::atoi(words[1]));
  std::unique_ptr<Lock> lock;
  if (std::string(words[2]) == "setnx") lock = std::make_unique<SetnxLock>(server);
  else lock = std::make_unique<EvalLock>(server);
  for (std::string line; std::getline(std::cin, line);) {
    const auto ask = field(line, "ask");
    bool answer = true;
    if (ask == "acquire") answer = lock->acquire(field(line, "name"), std::atol(field(line, "ttl").c_str()));
    if (ask == "release") answer = lock->release(field(line, "name"));
    std::cout << (answer ? "true" : "false") << std::endl;
  }
}
