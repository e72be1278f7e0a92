/**
 * Sends the answer of a process that the hub started for one task, and closes the channel, so that the process can end.
 * @throws Error in a process that was not started by the hub
 */
export function replyToHub(message: object): void {
  if (process.send === undefined)
    throw new Error('This process is started by the hub, with a channel to reply through.');
  process.send(message, () => process.disconnect());
}
