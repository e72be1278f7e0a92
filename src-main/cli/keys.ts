interface KeyHandlers {
  /** Ctrl-C. */
  interrupt(): void;
  leave(): void;
  isLeave(key: string): boolean;
}

/**
 * Reads single keys from the terminal, without echo; does nothing where stdin is none. Ctrl-Z suspends the process as
 * usual.
 * @returns a function that ends it
 */
export function readKeys(handlers: KeyHandlers): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => undefined;
  const take = (text: string): void => {
    for (const key of text) {
      if (key === '\u0003') handlers.interrupt();
      else if (key === '\u001A') suspend();
      else if (handlers.isLeave(key)) handlers.leave();
    }
  };
  const resume = (): void => void stdin.setRawMode(true);
  const suspend = (): void => {
    stdin.setRawMode(false);
    process.kill(process.pid, 'SIGTSTP');
  };
  stdin.setRawMode(true).setEncoding('utf8').on('data', take);
  process.on('SIGCONT', resume);
  return () => {
    process.off('SIGCONT', resume);
    stdin.off('data', take).setRawMode(false).pause();
  };
}
