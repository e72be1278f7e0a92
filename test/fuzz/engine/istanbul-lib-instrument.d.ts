/** The part of `istanbul-lib-instrument` that the fuzzer uses; the package has no types. */
declare module 'istanbul-lib-instrument' {
  export function createInstrumenter(options: {
    esModules: boolean;
    compact: boolean;
    coverageVariable: string;
    reportLogic: boolean;
  }): { instrumentSync(code: string, file: string): string };
}
