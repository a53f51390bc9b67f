//! What readers of files said of the text they gave: plain data that counts keep and reports show.

use serde_json::Value;

/// What was said of two texts, as of one: numbers add up, yes to either is yes, and objects join by key.
#[must_use]
pub fn joined(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Null, other) => other,
        (Value::Bool(one), Value::Bool(other)) => Value::Bool(one | other),
        (Value::Number(one), Value::Number(other)) => {
            let number = |value: serde_json::Number| value.as_u64().unwrap_or_default();
            Value::from(number(one).saturating_add(number(other)))
        }
        (Value::Object(mut one), Value::Object(other)) => {
            for (key, value) in other {
                let before = one.entry(key).or_insert(Value::Null);
                *before = joined(before.take(), value);
            }
            Value::Object(one)
        }
        // The other is null, or nothing that a reader says.
        (one, _) => one,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_of_two_texts_add_up() {
        let one = json!({"skipped": 2, "reasons": {"no JSON": 2}, "limited": false});
        let other = json!({"skipped": 3, "reasons": {"no JSON": 1, "faulty file": 2}, "limited": true});
        let both = json!({"skipped": 5, "reasons": {"no JSON": 3, "faulty file": 2}, "limited": true});
        assert_eq!(joined(one.clone(), other.clone()), both);
        assert_eq!(joined(other, one.clone()), both);
        assert_eq!(joined(Value::Null, one.clone()), one);
        assert_eq!(joined(one.clone(), Value::Null), one);
    }
}
