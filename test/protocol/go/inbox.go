package main

import (
	"strconv"
	"strings"
	"time"
)

// Hears the inbox, and connects anew when it is lost. The client asks nothing meanwhile.
func (c *client) listen() {
	for ; ; <-pause(retryPause) {
		in, err := dial(c.redis.address)
		if err != nil {
			continue
		}
		inbox := prefix + "inbox:" + c.process
		if _, err = in.do("SUBSCRIBE", inbox); err == nil && c.reaches(inbox) {
			c.deaf.Unlock()
			c.tell() // what was granted meanwhile
			for err == nil {
				var message any
				if message, err = in.read(); err == nil {
					c.hear(message.([]any)[2].(string))
				}
			}
			c.deaf.Lock()
		}
		in.Close()
	}
}

// Whether commands go to the server at which the inbox is heard.
func (c *client) reaches(inbox string) bool {
	heard, err := c.redis.do("PUBLISH", inbox, "hello")
	return err == nil && heard != int64(0)
}

// A message makes the client ask, whatever it says.
func (c *client) hear(text string) {
	c.state.Lock()
	defer c.state.Unlock()
	words := strings.Split(text, " ")
	switch {
	case words[0] == "granted" && len(words) > 1 && words[1] == c.entry:
		c.tell()
	case words[0] == "kept" && len(words) > 2 && strings.Join(words[2:], " ") == c.lock:
		ms, _ := strconv.Atoi(words[1])
		time.AfterFunc(time.Duration(ms)*time.Millisecond, c.tell)
	case words[0] == "forced":
		for _, holder := range words[1:] {
			for _, lease := range c.leases {
				if lease.holder == holder {
					lease.ask()
				}
			}
		}
	}
}

func (c *client) tell() {
	select {
	case c.told <- struct{}{}:
	default:
	}
}

// What the caller waits for, and by which entry.
func (c *client) awaits(lock, entry string) {
	c.state.Lock()
	defer c.state.Unlock()
	c.lock, c.entry = lock, entry
}
