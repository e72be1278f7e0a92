export default { name: 'Malformed', description: 'Has no schema, no task and no model.', data: 7 };
