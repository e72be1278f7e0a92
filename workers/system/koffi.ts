import type koffiModule from 'koffi';

export type Koffi = typeof koffiModule;

/** The package that calls native libraries. @param what needs it @throws Error if it is not installed */
export async function loadKoffi(what: string): Promise<Koffi> {
  try {
    return (await import('koffi')).default;
  } catch (error) {
    throw new Error(`${what} needs the package koffi, which is not installed (npm ci --include=optional does).`, {
      cause: error,
    });
  }
}
