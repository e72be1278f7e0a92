export { Generator, seedForRank, type GeneratorState } from './generator.ts';
export { installAsMathRandom, recordDraws, withSeededMathRandom } from './math-random.ts';
