//! What a worker may do on the server, and the names of workers.
