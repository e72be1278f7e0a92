/** Sources that several metrics name. */
export const standard = 'Standard';
export const deepEnsembles = 'Lakshminarayanan et al., 2017, Simple and scalable predictive uncertainty estimation';
export const decomposition = 'Depeweg et al., 2018, Decomposition of uncertainty in Bayesian deep learning';
export const kroghVedelsby =
  'Krogh and Vedelsby, 1994, Neural network ensembles, cross validation, and active learning';
export const abe = 'Abe et al., 2022, Deep ensembles work, but are they necessary?';
