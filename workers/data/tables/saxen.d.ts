/** The part of saxen 11.2.0 that workbooks use. It expands no entities but XML's own five and numbers. */

declare module 'saxen' {
  export class Parser {
    on(event: 'openTag', callback: (name: string, attributes: () => Record<string, string>) => void): this;
    on(event: 'closeTag', callback: (name: string) => void): this;
    /** Text with its entities, and a declaration such as `<!DOCTYPE ...>`. */
    on(event: 'text' | 'cdata' | 'attention', callback: (text: string) => void): this;
    /** Errors and malformed attributes. */
    on(event: 'error' | 'warn', callback: (problem: Error) => void): this;
    parse(xml: string): void;
    /** Ends the call of `parse` after the present event. */
    stop(): void;
  }
}
