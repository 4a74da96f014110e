module nest-redis-lock/protocol

go 1.19
