package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// What Redis answers instead of a result.
type refusal string

func (r refusal) Error() string { return string(r) }

// A connection to Redis that speaks as much of RESP2 as the client needs.
type conn struct {
	net.Conn
	in *bufio.Reader
}

func dial(address string) (*conn, error) {
	socket, err := net.DialTimeout("tcp", address, timeout)
	if err != nil {
		return nil, err
	}
	return &conn{socket, bufio.NewReader(socket)}, nil
}

// Sends a command and reads its answer.
func (c *conn) do(words ...string) (any, error) {
	c.SetDeadline(time.Now().Add(timeout))
	defer c.SetDeadline(time.Time{})
	text := fmt.Sprintf("*%d\r\n", len(words))
	for _, word := range words {
		text += fmt.Sprintf("$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := c.Write([]byte(text)); err != nil {
		return nil, err
	}
	return c.read()
}

// The next answer: a text, a whole number, a list of answers, or nil. A refusal is an error.
func (c *conn) read() (any, error) {
	line, err := c.in.ReadString('\n')
	if err != nil || len(line) < 3 {
		return nil, fmt.Errorf("no answer: %q, %v", line, err)
	}
	rest := line[1 : len(line)-2]
	if line[0] == '+' {
		return rest, nil
	}
	if line[0] == '-' {
		return nil, refusal(rest)
	}
	number, err := strconv.ParseInt(rest, 10, 64)
	switch {
	case err != nil:
		return nil, err
	case line[0] == ':':
		return number, nil
	case number < 0:
		return nil, nil
	case line[0] == '$':
		text := make([]byte, number+2)
		_, err := io.ReadFull(c.in, text)
		return string(text[:number]), err
	case line[0] == '*':
		list := make([]any, number)
		for at := range list {
			if list[at], err = c.read(); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return nil, fmt.Errorf("no RESP2: %q", line)
}
