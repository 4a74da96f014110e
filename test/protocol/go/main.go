// A client of the lock protocol, written from docs/protocol.md alone: it queues for a lock held alone, is handed it, renews it and hands it on.
//
// client <port> <folder of the scripts>: a question a line on stdin, an answer a line on stdout.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

type question struct {
	Ask, Name string
	Ttl       int64
	Wait      float64
}

func (c *client) answer(asked question) any {
	switch asked.Ask {
	case "acquire":
		if lease := c.acquire(asked.Name, asked.Ttl, asked.Wait); lease != nil {
			return lease.token
		}
		return nil
	case "release":
		return c.release(asked.Name)
	case "held":
		lease := c.leases[asked.Name]
		return lease != nil && lease.held()
	}
	return c.process
}

func main() {
	client, err := newClient("127.0.0.1:"+os.Args[1], os.Args[2])
	if err != nil {
		panic(err)
	}
	for questions := bufio.NewScanner(os.Stdin); questions.Scan(); {
		var asked question
		if err := json.Unmarshal(questions.Bytes(), &asked); err != nil {
			panic(err)
		}
		answer, _ := json.Marshal(client.answer(asked))
		fmt.Println(string(answer))
	}
}
