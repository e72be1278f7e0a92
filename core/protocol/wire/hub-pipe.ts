/** The file descriptor of the pipe to the hub, in a process that the hub started to answer questions. */
export const hubPipe = 3;
