// The lock libraries of Go, for the tests: a question a line on stdin, an answer a line on stdout. Told the ports of its
// servers and the library's name.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	pools "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// A library: takes a lock, or says that it could not. What it gives then gives the lock back, and says whether it was its own.
type library func(name string, ttl time.Duration) (release func() bool, err error)

func redsyncOn(clients []*redis.Client) library {
	var of []pools.Pool
	for _, client := range clients {
		of = append(of, goredis.NewPool(client))
	}
	sync := redsync.New(of...)
	return func(name string, ttl time.Duration) (func() bool, error) {
		mutex := sync.NewMutex(name, redsync.WithExpiry(ttl), redsync.WithTries(1))
		return func() bool {
			released, err := mutex.Unlock()
			return released && err == nil
		}, mutex.Lock()
	}
}

func redislockOn(client *redis.Client) library {
	locks := redislock.New(client)
	return func(name string, ttl time.Duration) (func() bool, error) {
		lock, err := locks.Obtain(context.Background(), name, ttl, nil)
		return func() bool { return lock.Release(context.Background()) == nil }, err
	}
}

func main() {
	logging.Disable() // it says which server is down
	var clients []*redis.Client
	for _, port := range strings.Split(os.Args[1], ",") {
		clients = append(clients, redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port}))
	}
	acquire := redislockOn(clients[0])
	if os.Args[2] == "redsync" {
		acquire = redsyncOn(clients)
	}
	held := map[string]func() bool{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var question struct {
			Ask, Name string
			TTL       int64
		}
		if err := json.Unmarshal(lines.Bytes(), &question); err != nil {
			panic(err)
		}
		answer := true
		switch question.Ask {
		case "acquire":
			release, err := acquire(question.Name, time.Duration(question.TTL)*time.Millisecond)
			if answer = err == nil; answer {
				held[question.Name] = release
			}
		case "release":
			answer = held[question.Name]()
		}
		fmt.Println(answer)
	}
}
