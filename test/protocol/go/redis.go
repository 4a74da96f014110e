package main

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Redis over one connection, on which one command goes at a time. It is made anew after a command without an answer, which
// could come as that of the next one.
type server struct {
	address string
	turn    sync.Mutex
	conn    *conn
}

func (s *server) do(words ...string) (answer any, err error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	if s.conn == nil {
		if s.conn, err = dial(s.address); err != nil {
			return nil, err
		}
	}
	answer, err = s.conn.do(words...)
	if _, refused := isRefused(err); err != nil && !refused {
		s.conn.Close()
		s.conn = nil
	}
	return answer, err
}

// Runs a script by its digest, and by its text where the server does not know it.
func (s *server) run(script string, keys []string, args ...any) (any, error) {
	words := []string{"EVALSHA", fmt.Sprintf("%x", sha1.Sum([]byte(script))), fmt.Sprint(len(keys))}
	words = append(words, keys...)
	for _, arg := range args {
		words = append(words, fmt.Sprint(arg))
	}
	answer, err := s.do(words...)
	if why, _ := isRefused(err); strings.HasPrefix(why, "NOSCRIPT") {
		words[0], words[1] = "EVAL", script
		return s.do(words...)
	}
	return answer, err
}

func isRefused(err error) (why string, refused bool) {
	var answer refusal
	refused = errors.As(err, &answer)
	return string(answer), refused
}

// Whether a step may have had its effect, or may yet have it.
func isUnknown(err error) bool {
	why, refused := isRefused(err)
	return err != nil && (!refused || strings.HasPrefix(why, "BUSY") || strings.HasPrefix(why, "READONLY"))
}
