package main

import (
	"fmt"
	"math"
	"sync"
)

// One holder id: an ask, and the lease that is granted to it.
type lease struct {
	lock, holder string
	ttl, token   int64
	unknownUntil float64 // until then an ask without an answer may run
	doubt        chan struct{}
	over         chan struct{}
	ending       sync.Once
	state        sync.Mutex
	deadline     float64
}

func (l *lease) entry() string { return fmt.Sprintf("%s/%d/x1", l.holder, l.ttl) }

func (l *lease) lasts(sent, left float64) {
	l.state.Lock()
	defer l.state.Unlock()
	l.deadline = sent + left - (left*0.01 + 2)
}

// What is left of it, in ms.
func (l *lease) left() float64 {
	l.state.Lock()
	defer l.state.Unlock()
	return l.deadline - now()
}

func (l *lease) held() bool {
	select {
	case <-l.over:
		return false
	default:
		return l.left() > 0
	}
}

func (l *lease) end() { l.ending.Do(func() { close(l.over) }) }

// Makes it look whether it is lost.
func (l *lease) ask() {
	select {
	case l.doubt <- struct{}{}:
	default:
	}
}

// Renews it when a third of what is left is over, until it is lost or given back.
func (c *client) keep(l *lease) {
	defer l.end()
	for next := l.left() / 3; ; next = l.left() / 3 {
		select {
		case <-l.over:
			return
		case <-l.doubt:
		case <-pause(next):
		}
		for !c.extend(l) {
			<-pause(retryPause)
		}
		if !l.held() {
			return
		}
	}
}

// False where it is unknown whether the lock is still its own.
func (c *client) extend(l *lease) bool {
	known := math.Max(l.left(), 0)
	sent := now()
	left, ok := c.extended(l, l.ttl, "")
	if longest := math.Max(float64(l.ttl), known); left > longest+1_000 {
		sent = now()
		left, ok = c.extended(l, int64(longest), int64(left))
	}
	switch {
	case !l.held():
		return true
	case ok && left < 0:
		l.end()
	case ok:
		l.lasts(sent, left)
	}
	return ok
}

// The ms that are left, or −2 or −3.
func (c *client) extended(l *lease, ttl int64, overlong any) (left float64, ok bool) {
	answer, err := c.step("extend", l.lock, l.holder, ttl, overlong)
	if list, several := answer.([]any); err == nil && several {
		return float64(list[0].(int64)), true
	}
	return float64(ttl), err == nil
}
