package main

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	prefix     = "lock:"
	timeout    = 2 * time.Second
	limit      = 10_000
	firstLease = 3_000
	day        = 86_400_000_000
	askPause   = 5
	retryPause = 100
)

var start = time.Now()

// Milliseconds of the monotonic clock.
func now() float64 { return float64(time.Since(start)) / 1e6 }

func pause(ms float64) <-chan time.Time {
	return time.After(time.Duration(math.Max(ms, askPause) * 1e6))
}

func draw(bytes int) []byte {
	drawn := make([]byte, bytes)
	rand.Read(drawn)
	return drawn
}

func random(bytes int) string { return base64.RawURLEncoding.EncodeToString(draw(bytes)) }

func keysOf(lock string) []string {
	base := lock
	if !strings.Contains(lock, "{") {
		base = "{" + lock + "}"
	} else if lock[0] == '{' && lock[len(lock)-1] == '}' {
		base = lock + "{}"
	}
	return []string{lock, base + ":queue", base + ":seen", prefix + "{}:fence", base + ":holders", base + ":version"}
}

// A process of the protocol, whose one caller waits for one lock at a time.
type client struct {
	redis   *server
	scripts map[string]string
	process string
	deaf    sync.RWMutex // locked while nobody hears the inbox
	told    chan struct{}

	state  sync.Mutex // of all below
	clock  int64
	read   float64 // when the clock was
	lock   string  // waited for
	entry  string  // that waits
	leases map[string]*lease
}

func newClient(address, folder string) (*client, error) {
	c := &client{redis: &server{address: address}, scripts: map[string]string{}, told: make(chan struct{}, 1), leases: map[string]*lease{}}
	for _, step := range []string{"acquire", "release", "leave", "extend"} {
		text, err := os.ReadFile(filepath.Join(folder, step+".lua"))
		if err != nil {
			return nil, err
		}
		c.scripts[step] = string(text)
	}
	host, _ := os.Hostname()
	host = regexp.MustCompile(`[^A-Za-z0-9_-]`).ReplaceAllString(host, "-")
	if len(host) > 40 {
		host = host[len(host)-40:]
	}
	c.process = fmt.Sprintf("%s.%d.%s", host, os.Getpid(), random(8))
	answer, err := c.redis.do("TIME")
	if err != nil {
		return nil, err
	}
	seconds, _ := strconv.ParseInt(answer.([]any)[0].(string), 10, 64)
	micros, _ := strconv.ParseInt(answer.([]any)[1].(string), 10, 64)
	c.learn(seconds*1_000_000 + micros)
	c.deaf.Lock()
	go c.listen()
	return c, nil
}

func (c *client) learn(clock int64) {
	c.state.Lock()
	defer c.state.Unlock()
	c.clock, c.read = clock, now()
}

// The server's clock, or less.
func (c *client) estimate() int64 {
	c.state.Lock()
	defer c.state.Unlock()
	return c.clock + int64((now()-c.read)*1_000)
}

func (c *client) step(name string, lock string, args ...any) (any, error) {
	if name == "extend" {
		return c.redis.run(c.scripts[name], []string{lock}, args...)
	}
	return c.redis.run(c.scripts[name], keysOf(lock), args...)
}

// The lease; nil if it was not had within `wait` ms.
func (c *client) acquire(name string, ttl int64, wait float64) *lease {
	lock, end := prefix+name, now()+wait
	defer c.awaits("", "")
	for {
		lease, again := c.entered(lock, ttl, end, wait)
		if again && now() < end {
			continue
		}
		if lease != nil {
			c.state.Lock()
			c.leases[name] = lease
			c.state.Unlock()
			go c.keep(lease)
		}
		return lease
	}
}

// Waits under one holder id. The answer is `again` where the grant was over before it was known.
func (c *client) entered(lock string, ttl int64, end, wait float64) (_ *lease, again bool) {
	l := &lease{lock: lock, holder: c.process + "/" + random(16), ttl: ttl, doubt: make(chan struct{}, 1), over: make(chan struct{})}
	c.awaits(lock, l.entry())
	most, arrival := 0, ""
	if wait > 0 {
		most = limit
	}
	for {
		select {
		case <-c.told:
		default:
		}
		c.deaf.RLock()
		c.deaf.RUnlock()
		sent, notAfter, next := now(), c.estimate()+timeout.Microseconds(), float64(retryPause)
		answer, err := c.step("acquire", lock, l.holder, ttl, 1, notAfter, prefix+"inbox:", most, arrival)
		if isUnknown(err) {
			l.unknownUntil = now() + float64(timeout.Milliseconds())
		} else if err != nil {
			c.leave(l)
			return nil, false
		} else {
			reply := c.readReply(answer, ttl)
			switch reply.kind {
			case "held":
				l.token = reply.more[0]
				if l.lasts(sent, float64(reply.left)); l.held() {
					return l, false
				}
				c.leave(l)
				return nil, true
			case "queued":
				arrival = fmt.Sprint(reply.more[0])
				next = math.Min(700+300*float64(draw(1)[0])/255, math.Min(float64(ttl), firstLease)/3)
				if reply.more[1] < 2 && reply.left >= 0 {
					next = math.Min(next, float64(reply.left+1))
				}
			case "late":
				next = 0
			default:
				return nil, false
			}
		}
		if now() >= end {
			c.leave(l)
			return nil, false
		}
		select {
		case <-c.told:
		case <-pause(math.Min(next, end-now())):
		}
	}
}

type reply struct {
	kind string
	left int64
	more []int64
}

// Reads what acquire answers. A grant whose clock cannot be the server's is none: the reply belonged to another command.
func (c *client) readReply(answer any, ttl int64) reply {
	if clock, whole := answer.(int64); whole {
		if distance := clock - c.estimate(); distance > day || distance < -day {
			panic(fmt.Sprintf("%d is no reply to acquire", clock))
		}
		c.learn(clock)
		return reply{"held", ttl, []int64{clock, 1}}
	}
	words := answer.([]any)
	read := reply{kind: words[0].(string)}
	read.left, _ = words[1].(int64)
	c.learn(words[2].(int64))
	for _, word := range words[4:] {
		number, _ := word.(int64)
		read.more = append(read.more, number)
	}
	return read
}

// Gives a holder id up, and once more when no ask under it can run any longer.
func (c *client) leave(l *lease) {
	for {
		sent := now()
		_, err := c.step("leave", l.lock, l.holder, l.entry(), prefix+"inbox:")
		if !isUnknown(err) && sent >= l.unknownUntil {
			return
		}
		<-pause(math.Max(retryPause, l.unknownUntil-sent))
	}
}

// False if the lock was not its own any more.
func (c *client) release(name string) bool {
	c.state.Lock()
	l := c.leases[name]
	delete(c.leases, name)
	c.state.Unlock()
	l.end()
	for attempt := 0; ; attempt++ {
		sent := now()
		answer, err := c.step("release", l.lock, l.holder, prefix+"inbox:")
		if isUnknown(err) {
			<-pause(retryPause)
			continue
		}
		grants, _ := answer.([]any)
		for _, grant := range grants {
			c.hear(grant.(string))
		}
		was := answer != int64(0) && err == nil
		if !was || sent < l.unknownUntil {
			go c.leave(l)
		}
		return was || attempt > 0
	}
}
