export { Generator, seedForRank, type GeneratorState } from './generator.ts';
export { installAsMathRandom, withSeededMathRandom } from './math-random.ts';
