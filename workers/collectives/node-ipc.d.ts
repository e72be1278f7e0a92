/** The part of node-ipc 14.0.0 that Tutti uses, in raw mode; the package brings no types. */
declare module 'node-ipc' {
  import type { Server as NetServer, Socket } from 'node:net';

  interface Config {
    rawBuffer: boolean;
    silent: boolean;
    maxRetries: number;
    stopRetrying: boolean;
    maxConnections: number;
    unlink: boolean;
  }

  interface Client {
    readonly socket: Socket;
    /** Raw mode: writes the bytes. */
    emit(bytes: Buffer): boolean;
    on(event: 'connect' | 'disconnect', handler: () => void): this;
    on(event: 'error', handler: (error: Error) => void): this;
    on(event: 'data', handler: (chunk: Buffer) => void): this;
  }

  interface Server {
    readonly server: NetServer;
    start(): void;
    stop(): void;
    /** Raw mode: writes the bytes. */
    emit(socket: Socket, bytes: Buffer): boolean;
    on(event: 'start', handler: () => void): this;
    on(event: 'connect', handler: (socket: Socket) => void): this;
    on(event: 'error', handler: (error: Error) => void): this;
    on(event: 'data', handler: (chunk: Buffer, socket: Socket) => void): this;
  }

  export class IPCModule {
    readonly config: Config;
    readonly of: Record<string, Client>;
    readonly server: Server;
    serve(path: string): void;
    connectTo(id: string, path: string): void;
    disconnect(id: string): void;
  }
}
