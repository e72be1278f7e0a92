export { Generator, seedForRank, type GeneratorState } from '../../core/random/generator.ts';
export { installAsMathRandom, recordDraws, withSeededMathRandom } from './math-random.ts';
